// Walks through what Go programs on top of go-proxmox do: the storage driver, the cloud controller
// manager, Karpenter and Cluster API. Prints what it saw.
//
//	check-go-proxmox https://127.0.0.1:8006/api2/json CA_FILE TOKEN_ID [IMAGE_URL]
//
// Without an image only the version and the nodes are asked for. The token's secret comes from
// PROXMOX_TOKEN_SECRET.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/luthermonson/go-proxmox"
)

const (
	node     = "pve1"
	store    = "local-zfs"
	template = 1000
	machine  = 1001
)

type answer struct {
	Version    string          `json:"version"`
	Nodes      []string        `json:"nodes"`
	Storage    *storageSeen    `json:"storage,omitempty"`
	Controller *controllerSeen `json:"controller,omitempty"`
	Karpenter  *karpenterSeen  `json:"karpenter,omitempty"`
	ClusterAPI *clusterAPISeen `json:"cluster_api,omitempty"`
}

type storageSeen struct {
	Available int    `json:"available"`
	Volume    string `json:"volume"`
	Attached  string `json:"attached"`
	Grown     string `json:"grown"`
	Unused    int    `json:"unused"`
	Left      int    `json:"left"`
}

type controllerSeen struct {
	Name      string   `json:"name"`
	Status    string   `json:"status"`
	UUID      bool     `json:"uuid"`
	Addresses []string `json:"addresses"`
	Groups    string   `json:"groups"`
}

type karpenterSeen struct {
	Hosts    int      `json:"hosts"`
	Bridges  []string `json:"bridges"`
	Template bool     `json:"template"`
	Taken    bool     `json:"taken"`
	Cores    int      `json:"cores"`
	Memory   int      `json:"memory"`
	Disk     string   `json:"disk"`
	Pool     int      `json:"pool"`
	Running  bool     `json:"running"`
}

type clusterAPISeen struct {
	Free   bool   `json:"free"`
	Memory bool   `json:"memory"`
	System string `json:"system"`
	Drive  string `json:"drive"`
	Gone   string `json:"gone"`
}

func main() {
	if err := ask(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func ask(arguments []string) (err error) {
	if len(arguments) != 3 && len(arguments) != 4 {
		return errors.New("usage: check-go-proxmox URL CA_FILE TOKEN_ID [IMAGE_URL]")
	}
	defer func() {
		if stopped, ok := recover().(failure); ok {
			err = stopped.cause
		}
	}()
	client := proxmox.NewClient(
		arguments[0],
		proxmox.WithRootCAFile(arguments[1]),
		proxmox.WithAPIToken(arguments[2], os.Getenv("PROXMOX_TOKEN_SECRET")),
	)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	found := answer{Version: must(client.Version(ctx)).Version, Nodes: []string{}}
	for _, one := range must(client.Nodes(ctx)) {
		found.Nodes = append(found.Nodes, one.Node)
	}
	if len(arguments) == 4 {
		found.Karpenter = karpenter(ctx, client, arguments[3])
		found.Storage = storage(ctx, client)
		found.Controller = controller(ctx, client)
		found.ClusterAPI = clusterAPI(ctx, client)
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

// failure ends the walk; `ask` turns it into what the program prints.
type failure struct{ cause error }

func try(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func must[T any](value T, err error) T {
	try(err)
	return value
}

func set(name string, value interface{}) proxmox.VirtualMachineOption {
	return proxmox.VirtualMachineOption{Name: name, Value: value}
}

// finish waits for a task to end well; none means that there was nothing to wait for.
func finish(ctx context.Context, what string) func(*proxmox.Task, error) {
	return func(task *proxmox.Task, err error) {
		if err == nil && task != nil {
			err = task.Wait(ctx, 100*time.Millisecond, time.Minute)
			if err == nil && task.IsFailed {
				err = errors.New(task.ExitStatus)
			}
		}
		if err != nil {
			try(fmt.Errorf("%s: %w", what, err))
		}
	}
}

// listed waits until a guest stands as wanted in the list of resources, which pvestatd writes
// every 10 s.
func listed(
	ctx context.Context, cluster *proxmox.Cluster, isWanted func(*proxmox.ClusterResource) bool,
) bool {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(time.Second) {
		for _, row := range must(cluster.Resources(ctx, "vm")) {
			if isWanted(row) {
				return true
			}
		}
	}
	return false
}

func karpenter(ctx context.Context, client *proxmox.Client, image string) *karpenterSeen {
	seen := &karpenterSeen{Bridges: []string{}}
	cluster := must(client.Cluster(ctx))
	rows := must(cluster.Resources(ctx, "node"))
	for _, row := range rows {
		if row.Status == "online" && row.MaxCPU > 0 && row.MaxMem > 0 {
			seen.Hosts++
		}
	}
	host := must(client.Node(ctx, node))
	networks := must(host.Networks(ctx, "any_bridge"))
	for _, one := range networks {
		seen.Bridges = append(seen.Bridges, one.Iface)
	}
	local := must(host.Storage(ctx, "local"))
	finish(ctx, "download")(local.DownloadURL(ctx, "import", "linux.qcow2", image))
	finish(ctx, "create")(host.NewVirtualMachine(ctx, template,
		set("name", "base"), set("node", node), set("machine", "q35"), set("bios", "ovmf"),
		set("agent", "enabled=1"), set("cpu", "cputype=host"), set("vga", "serial0"),
		set("serial0", "socket"), set("net0", "model=virtio,bridge=vmbr0"), set("ipconfig0", "ip=dhcp"),
		set("scsihw", "virtio-scsi-single"), set("ide2", store+":cloudinit"),
		set("scsi0", "file="+store+":0,format=raw,import-from=local:import/linux.qcow2,iothread=on"),
		set("efidisk0", store+":0,efitype=4m"), set("tpmstate0", "file="+store+":4,version=v2.0"),
	))
	base := must(host.VirtualMachine(ctx, template))
	finish(ctx, "template")(base.ConvertToTemplate(ctx))
	seen.Template = listed(ctx, cluster, func(row *proxmox.ClusterResource) bool {
		return row.VMID == template && row.Template == 1
	})
	free := must(cluster.CheckID(ctx, template))
	seen.Taken = !free
	try(client.NewPool(ctx, "karpenter", ""))
	_, task, err := base.Clone(ctx, &proxmox.VirtualMachineCloneOptions{
		NewID: machine, Name: "worker-1", Full: true, Pool: "karpenter", Storage: store,
	})
	finish(ctx, "clone")(task, err)
	vm := must(host.VirtualMachine(ctx, machine))
	finish(ctx, "resize")(vm.ResizeDisk(ctx, "scsi0", "5G"))
	finish(ctx, "config")(vm.Config(ctx, set("cores", 2), set("memory", 1024), set("tags", "karpenter")))
	try(client.Put(ctx, fmt.Sprintf("/nodes/%s/qemu/%d/cloudinit", node, machine), nil, nil))
	options := map[string]interface{}{}
	firewall := fmt.Sprintf("/nodes/%s/qemu/%d/firewall", node, machine)
	try(client.Get(ctx, firewall+"/options", &options))
	try(client.Put(ctx, firewall+"/options", map[string]interface{}{"enable": true}, nil))
	rule := &proxmox.FirewallRule{Type: "in", Action: "ACCEPT", Enable: 1}
	try(vm.NewFirewallRule(ctx, rule))
	finish(ctx, "start")(vm.Start(ctx))
	try(vm.Ping(ctx))
	pool := must(client.Pool(ctx, "karpenter", "qemu"))
	seen.Pool = len(pool.Members)
	if vm.VirtualMachineConfig.Cores != nil {
		seen.Cores = *vm.VirtualMachineConfig.Cores
	}
	seen.Memory = int(vm.VirtualMachineConfig.Memory)
	seen.Disk, seen.Running = vm.VirtualMachineConfig.SCSIs["scsi0"], vm.IsRunning()
	return seen
}

func storage(ctx context.Context, client *proxmox.Client) *storageSeen {
	seen := &storageSeen{}
	cluster := must(client.Cluster(ctx))
	rows := must(cluster.Resources(ctx, "storage"))
	for _, row := range rows {
		if row.Storage == store && row.Status == "available" && row.PluginType == "zfspool" {
			seen.Available++
		}
	}
	host := must(client.Node(ctx, node))
	pool := must(host.Storage(ctx, store))
	before := must(pool.GetContent(ctx))
	path := fmt.Sprintf("/nodes/%s/storage/%s/content", node, store)
	body := map[string]interface{}{
		"vmid": 9999, "node": node, "storage": store, "filename": "vm-9999-pvc-1", "size": "1048576",
	}
	try(client.Post(ctx, path, body, &seen.Volume))
	vm := must(host.VirtualMachine(ctx, machine))
	value := seen.Volume + ",backup=0,iothread=1,wwn=0x5056432d49443031"
	finish(ctx, "attach")(vm.Config(ctx, set("scsi1", value)))
	try(vm.Ping(ctx))
	seen.Attached = vm.VirtualMachineConfig.SCSIs["scsi1"]
	finish(ctx, "grow")(vm.ResizeDisk(ctx, "scsi1", "2048M"))
	try(vm.Ping(ctx))
	seen.Grown = vm.VirtualMachineConfig.SCSIs["scsi1"]
	finish(ctx, "detach")(vm.UnlinkDisk(ctx, "scsi1", false))
	try(vm.Ping(ctx))
	seen.Unused = len(vm.VirtualMachineConfig.Unuseds)
	finish(ctx, "delete")(pool.DeleteContent(ctx, seen.Volume))
	after := must(pool.GetContent(ctx))
	seen.Left = len(after) - len(before)
	return seen
}

func controller(ctx context.Context, client *proxmox.Client) *controllerSeen {
	seen := &controllerSeen{Addresses: []string{}}
	cluster := must(client.Cluster(ctx))
	listed(ctx, cluster, func(row *proxmox.ClusterResource) bool {
		return row.VMID == machine && row.Status == "running"
	})
	rows := must(cluster.Resources(ctx, "vm"))
	for _, row := range rows {
		if row.Type == "qemu" && row.Template != 1 && strings.HasPrefix(row.Name, "worker-1") {
			seen.Name, seen.Status = row.Name, row.Status
		}
	}
	host := must(client.Node(ctx, node))
	vm := must(host.VirtualMachine(ctx, machine))
	seen.UUID = strings.Contains(vm.VirtualMachineConfig.SMBios1, "uuid=")
	try(vm.WaitForAgent(ctx, 60))
	cards := must(vm.AgentGetNetworkIFaces(ctx))
	for _, card := range cards {
		for _, address := range card.IPAddresses {
			if card.Name != "lo" && !strings.HasPrefix(address.IPAddress, "fe80") {
				seen.Addresses = append(seen.Addresses, address.IPAddress)
			}
		}
	}
	seen.Groups = "known"
	if _, err := cluster.HAGroups(ctx); err != nil {
		seen.Groups = err.Error()
	}
	return seen
}

func clusterAPI(ctx context.Context, client *proxmox.Client) *clusterAPISeen {
	seen := &clusterAPISeen{}
	cluster := must(client.Cluster(ctx))
	next := must(cluster.NextID(ctx))
	seen.Free = must(cluster.CheckID(ctx, next))
	host := must(client.Node(ctx, node))
	seen.Memory = host.Memory.Total > 0
	must(host.VirtualMachines(ctx))
	must(host.Containers(ctx))
	vm := must(host.VirtualMachine(ctx, machine))
	info := must(vm.AgentOsInfo(ctx))
	seen.System = info.ID
	finish(ctx, "stop")(vm.Stop(ctx))
	try(vm.CloudInit(ctx, "ide0", "#cloud-config\n", "instance-id: one\n", "", ""))
	try(vm.Ping(ctx))
	seen.Drive = vm.VirtualMachineConfig.IDEs["ide0"]
	finish(ctx, "delete")(vm.Delete(ctx, nil))
	if _, err := host.VirtualMachine(ctx, machine); err != nil {
		seen.Gone = err.Error()
	}
	base := must(host.VirtualMachine(ctx, template))
	finish(ctx, "delete template")(base.Delete(ctx, nil))
	return seen
}

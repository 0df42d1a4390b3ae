// Asks Talos itself what a machine does with its network. Built inside of Talos' own module, because
// the packages that decide it are not for others.
//
// `nocloud` reads {"network-config", "meta-data", "links"} and prints what the nocloud platform makes
// of it. `configuration` reads {"configuration", "links"} and prints what the controllers of the
// network make of a machine configuration. Links are names with MAC addresses. One JSON object per
// line, each answered by one line, {"result"} or {"error"}.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"reflect"
	"sort"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/runtime"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"go.uber.org/zap"
	yaml "go.yaml.in/yaml/v4"

	netctrl "github.com/siderolabs/talos/internal/app/machined/pkg/controllers/network"
	"github.com/siderolabs/talos/internal/app/machined/pkg/runtime/v1alpha1/platform/nocloud"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/nethelpers"
	configres "github.com/siderolabs/talos/pkg/machinery/resources/config"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
)

const (
	quiet    = 250 * time.Millisecond
	patience = 20 * time.Second
)

type task struct {
	NetworkConfig string            `json:"network-config"`
	MetaData      string            `json:"meta-data"`
	Configuration string            `json:"configuration"`
	Links         map[string]string `json:"links"`
}

func main() {
	ask := map[string]func(task) (any, error){"nocloud": platform, "configuration": controllers}[lastWord()]
	if ask == nil {
		fmt.Fprintf(os.Stderr, "usage: %s nocloud|configuration\n", os.Args[0])
		os.Exit(1)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var one task
		answer := map[string]any{}
		err := json.Unmarshal(lines.Bytes(), &one)
		if err == nil {
			answer["result"], err = ask(one)
		}
		if err != nil {
			answer = map[string]any{"error": err.Error()}
		}
		line, err := json.Marshal(answer)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(string(line))
	}
}

func lastWord() string {
	return os.Args[len(os.Args)-1]
}

func machine(ctx context.Context, links map[string]string) (state.State, error) {
	st := state.WrapCore(namespaced.NewState(inmem.Build))
	for name, address := range links {
		mac, err := net.ParseMAC(address)
		if err != nil {
			return nil, err
		}
		link := network.NewLinkStatus(network.NamespaceName, name)
		link.TypedSpec().Type = nethelpers.LinkEther
		link.TypedSpec().HardwareAddr = nethelpers.HardwareAddr(mac)
		link.TypedSpec().PermanentAddr = nethelpers.HardwareAddr(mac)
		if err := st.Create(ctx, link); err != nil {
			return nil, err
		}
	}
	return st, nil
}

func platform(one task) (any, error) {
	ctx := context.Background()
	st, err := machine(ctx, one.Links)
	if err != nil {
		return nil, err
	}
	decoded, err := nocloud.DecodeNetworkConfig([]byte(one.NetworkConfig))
	if err != nil {
		return nil, err
	}
	var metadata nocloud.MetadataConfig
	if err = yaml.Unmarshal([]byte(one.MetaData), &metadata); err != nil {
		return nil, err
	}
	found, again, err := (&nocloud.Nocloud{}).ParseMetadata(ctx, decoded, st, &metadata)
	if err != nil {
		return nil, err
	}
	told, err := plain(found)
	return map[string]any{"network": told, "incomplete": again}, err
}

func controllers(one task) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	st, err := machine(ctx, one.Links)
	if err != nil {
		return nil, err
	}
	provider, err := configloader.NewFromBytes([]byte(one.Configuration))
	if err != nil {
		return nil, err
	}
	if err = st.Create(ctx, configres.NewMachineConfig(provider)); err != nil {
		return nil, err
	}
	engine, err := runtime.NewRuntime(st, zap.NewNop())
	if err != nil {
		return nil, err
	}
	for _, one := range []controller.Controller{
		&netctrl.DeviceConfigController{},
		&netctrl.LinkAliasConfigController{},
		&netctrl.LinkConfigController{},
		&netctrl.AddressConfigController{},
		&netctrl.RouteConfigController{},
		&netctrl.OperatorConfigController{},
		&netctrl.OperatorVIPConfigController{},
		&netctrl.HostnameConfigController{},
		&netctrl.ResolverConfigController{},
		&netctrl.TimeServerConfigController{},
	} {
		if err = engine.RegisterController(one); err != nil {
			return nil, err
		}
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- engine.Run(running) }()
	result, err := settled(ctx, st)
	stop()
	<-done
	return result, err
}

// settled waits until nothing changes any more: aliases are known a moment after links.
func settled(ctx context.Context, st state.State) (any, error) {
	var before any
	since := time.Now()
	for {
		now, err := specs(ctx, st)
		if err != nil {
			return nil, err
		}
		if !reflect.DeepEqual(before, now) {
			before, since = now, time.Now()
		} else if time.Since(since) > quiet {
			return now, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(quiet / 10):
		}
	}
}

func specs(ctx context.Context, st state.State) (map[string][]any, error) {
	if err := name(ctx, st); err != nil {
		return nil, err
	}
	found := map[string][]any{}
	for _, kind := range []resource.Type{
		network.LinkSpecType, network.AddressSpecType, network.RouteSpecType,
		network.OperatorSpecType, network.HostnameSpecType, network.ResolverSpecType,
		network.TimeServerSpecType,
	} {
		items, err := st.List(ctx, resource.NewMetadata(network.ConfigNamespaceName, kind, "", resource.VersionUndefined))
		if err != nil {
			return nil, err
		}
		for _, item := range items.Items {
			told, err := plain(item.Spec())
			if err != nil {
				return nil, err
			}
			found[kind] = append(found[kind], told)
		}
		sort.Slice(found[kind], func(i, j int) bool {
			return fmt.Sprint(found[kind][i]) < fmt.Sprint(found[kind][j])
		})
	}
	return found, nil
}

// name gives links their aliases, which another controller does through the kernel.
func name(ctx context.Context, st state.State) error {
	items, err := st.List(ctx, resource.NewMetadata(network.NamespaceName, network.LinkAliasSpecType, "", resource.VersionUndefined))
	if err != nil {
		return err
	}
	for _, item := range items.Items {
		alias := item.(*network.LinkAliasSpec).TypedSpec().Alias
		link, err := st.Get(ctx, resource.NewMetadata(network.NamespaceName, network.LinkStatusType, item.Metadata().ID(), resource.VersionUndefined))
		if err != nil {
			return err
		}
		status := link.(*network.LinkStatus)
		if status.TypedSpec().Alias == alias {
			continue
		}
		status.TypedSpec().Alias = alias
		if err = st.Update(ctx, status); err != nil {
			return err
		}
	}
	return nil
}

func plain(value any) (any, error) {
	text, err := yaml.Marshal(value)
	if err != nil {
		return nil, err
	}
	var found any
	err = yaml.Unmarshal(text, &found)
	return found, err
}

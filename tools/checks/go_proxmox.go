// Asks a Proxmox API for its version and its nodes, as Go programs on top of go-proxmox do.
//
//	check-go-proxmox https://127.0.0.1:8006/api2/json CA_FILE TOKEN_ID
//
// The token's secret comes from PROXMOX_TOKEN_SECRET.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/luthermonson/go-proxmox"
)

type answer struct {
	Version string   `json:"version"`
	Nodes   []string `json:"nodes"`
}

func main() {
	if err := ask(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func ask(arguments []string) error {
	if len(arguments) != 3 {
		return errors.New("usage: check-go-proxmox URL CA_FILE TOKEN_ID")
	}
	client := proxmox.NewClient(
		arguments[0],
		proxmox.WithRootCAFile(arguments[1]),
		proxmox.WithAPIToken(arguments[2], os.Getenv("PROXMOX_TOKEN_SECRET")),
	)
	version, err := client.Version(context.Background())
	if err != nil {
		return err
	}
	nodes, err := client.Nodes(context.Background())
	if err != nil {
		return err
	}
	found := answer{Version: version.Version, Nodes: []string{}}
	for _, node := range nodes {
		found.Nodes = append(found.Nodes, node.Node)
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

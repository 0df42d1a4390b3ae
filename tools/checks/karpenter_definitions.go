// Prints the definitions of the kinds that Karpenter for Proxmox VE works with. It is built among them.
//
//	check-karpenter-definitions
package main

import (
	"embed"
	"fmt"
	"os"
)

//go:embed *.yaml
var files embed.FS

func main() {
	if err := print(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func print() error {
	entries, err := files.ReadDir(".")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		text, err := files.ReadFile(entry.Name())
		if err != nil {
			return err
		}
		fmt.Printf("---\n%s\n", text)
	}
	return nil
}

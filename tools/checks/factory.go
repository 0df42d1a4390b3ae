// check-factory asks an Image Factory with its own client: `check-factory URL VERSION`, with a
// schematic on its input. It prints what it was told, or why it was refused, as JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/siderolabs/image-factory/pkg/client"
	"github.com/siderolabs/image-factory/pkg/schematic"
)

type told struct {
	ID         string   `json:"id"`
	Again      string   `json:"again"`
	Versions   []string `json:"versions"`
	Broken     []string `json:"broken"`
	Extensions []string `json:"extensions"`
	Overlays   []string `json:"overlays"`
	Clients    []string `json:"clients"`
	Refusal    string   `json:"refusal"`
	Invalid    bool     `json:"invalid"`
}

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(url, version string) error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	wanted, err := schematic.Unmarshal(text)
	if err != nil {
		return err
	}
	factory, err := client.New(url)
	if err != nil {
		return err
	}
	found, err := ask(context.Background(), factory, *wanted, version)
	if err != nil {
		found.Refusal = err.Error()
		found.Invalid = client.IsInvalidSchematicError(err)
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

func ask(ctx context.Context, factory *client.Client, wanted schematic.Schematic, version string) (found told, err error) {
	if found.ID, _, err = factory.SchematicCreate(ctx, wanted); err != nil {
		return found, err
	}
	kept, err := factory.SchematicGet(ctx, found.ID)
	if err != nil {
		return found, err
	}
	if found.Again, err = kept.ID(); err != nil {
		return found, err
	}
	if found.Versions, err = factory.Versions(ctx); err != nil {
		return found, err
	}
	if found.Broken, err = factory.BrokenVersions(ctx); err != nil {
		return found, err
	}
	extensions, err := factory.ExtensionsVersions(ctx, version)
	if err != nil {
		return found, err
	}
	for _, one := range extensions {
		found.Extensions = append(found.Extensions, one.Name+" "+one.Ref+" "+one.Digest)
	}
	overlays, err := factory.OverlaysVersions(ctx, version)
	if err != nil {
		return found, err
	}
	for _, one := range overlays {
		found.Overlays = append(found.Overlays, one.Name+" "+one.Image)
	}
	found.Clients, err = factory.TalosctlList(ctx, version)
	return found, err
}

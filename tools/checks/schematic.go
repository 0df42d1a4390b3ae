// Prints the id that Image Factory gives to the schematic on standard input.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/siderolabs/image-factory/pkg/schematic"
)

func main() {
	id, err := schematicID(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(id)
}

func schematicID(input io.Reader) (string, error) {
	text, err := io.ReadAll(input)
	if err != nil {
		return "", err
	}
	read, err := schematic.Unmarshal(text)
	if err != nil {
		return "", err
	}
	return read.ID()
}

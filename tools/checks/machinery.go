// Loads the machine configuration on standard input with Talos' own library, validates it as a
// machine with a disk would, and prints every warning.
package main

import (
	"fmt"
	"os"

	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/validation"
)

type metal struct{}

func (metal) String() string        { return "metal" }
func (metal) RequiresInstall() bool { return true }
func (metal) InContainer() bool     { return false }

func main() {
	if err := validate(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func validate() error {
	config, err := configloader.NewFromStdin()
	if err != nil {
		return err
	}
	warnings, err := config.Validate(metal{}, validation.WithLocal(), validation.WithStrict())
	for _, warning := range warnings {
		fmt.Println(warning)
	}
	return err
}

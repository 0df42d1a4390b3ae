// Reads an ISO image as Talos finds its configuration, and with a reader of its own.
//
// Prints {"name", "label"}, as the library by which Talos looks at disks tells them, and {"files"},
// contents in base64 by name.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/diskfs/go-diskfs"
	"github.com/siderolabs/go-blockdevice/v2/blkid"
)

func main() {
	answer, err := look(os.Args[len(os.Args)-1])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(answer)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func look(path string) (map[string]any, error) {
	info, err := blkid.ProbePath(path)
	if err != nil {
		return nil, err
	}
	label := ""
	if info.Label != nil {
		label = *info.Label
	}
	files, err := contents(path)
	return map[string]any{"name": info.Name, "label": label, "files": files}, err
}

func contents(path string) (map[string][]byte, error) {
	disk, err := diskfs.Open(path, diskfs.WithOpenMode(diskfs.ReadOnly))
	if err != nil {
		return nil, err
	}
	volume, err := disk.GetFilesystem(0)
	if err != nil {
		return nil, err
	}
	entries, err := volume.ReadDir(".")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		file, err := volume.OpenFile(entry.Name(), os.O_RDONLY)
		if err != nil {
			return nil, err
		}
		if files[entry.Name()], err = io.ReadAll(file); err != nil {
			return nil, err
		}
	}
	return files, nil
}

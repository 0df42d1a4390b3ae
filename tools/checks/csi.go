// Does with a storage driver what Kubernetes does: makes a volume, attaches it to a machine, makes it
// larger, detaches and deletes it. Prints what the driver answered.
//
//	check-csi unix:///tmp/csi.sock REGION ZONE STORAGE NODE_ID
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const gib = 1 << 30

type answer struct {
	Driver   string            `json:"driver"`
	Capacity bool              `json:"capacity"`
	Volume   string            `json:"volume"`
	Bytes    int64             `json:"bytes"`
	Device   map[string]string `json:"device"`
	Grown    int64             `json:"grown"`
	Again    string            `json:"again"`
}

func main() {
	if err := ask(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func ask(arguments []string) error {
	if len(arguments) != 5 {
		return errors.New("usage: check-csi SOCKET REGION ZONE STORAGE NODE_ID")
	}
	connection, err := grpc.NewClient(
		arguments[0], grpc.WithTransportCredentials(insecure.NewCredentials()),
	)
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	found, err := walk(ctx, connection, arguments[1:])
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

func walk(ctx context.Context, connection *grpc.ClientConn, given []string) (*answer, error) {
	region, zone, storage, node := given[0], given[1], given[2], given[3]
	found := &answer{}
	info, err := csi.NewIdentityClient(connection).GetPluginInfo(
		ctx, &csi.GetPluginInfoRequest{}, grpc.WaitForReady(true),
	)
	if err != nil {
		return nil, err
	}
	found.Driver = info.GetName()
	driver := csi.NewControllerClient(connection)
	place := &csi.Topology{Segments: map[string]string{
		"topology.kubernetes.io/region": region,
		"topology.kubernetes.io/zone":   zone,
	}}
	parameters := map[string]string{"storage": storage, "ssd": "true", "cache": "none"}
	capacity, err := driver.GetCapacity(
		ctx, &csi.GetCapacityRequest{Parameters: parameters, AccessibleTopology: place},
	)
	if err != nil {
		return nil, fmt.Errorf("capacity: %w", err)
	}
	found.Capacity = capacity.GetAvailableCapacity() > gib
	use := &csi.VolumeCapability{
		AccessType: &csi.VolumeCapability_Mount{
			Mount: &csi.VolumeCapability_MountVolume{FsType: "ext4"},
		},
		AccessMode: &csi.VolumeCapability_AccessMode{
			Mode: csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER,
		},
	}
	wanted := &csi.CreateVolumeRequest{
		Name:                      "pvc-0001",
		CapacityRange:             &csi.CapacityRange{RequiredBytes: gib},
		VolumeCapabilities:        []*csi.VolumeCapability{use},
		Parameters:                parameters,
		AccessibilityRequirements: &csi.TopologyRequirement{Preferred: []*csi.Topology{place}},
	}
	made, err := driver.CreateVolume(ctx, wanted)
	if err != nil {
		return nil, fmt.Errorf("create: %w", err)
	}
	again, err := driver.CreateVolume(ctx, wanted)
	if err != nil {
		return nil, fmt.Errorf("create again: %w", err)
	}
	volume := made.GetVolume()
	found.Volume, found.Bytes = volume.GetVolumeId(), volume.GetCapacityBytes()
	found.Again = again.GetVolume().GetVolumeId()
	attached, err := driver.ControllerPublishVolume(ctx, &csi.ControllerPublishVolumeRequest{
		VolumeId: found.Volume, NodeId: node, VolumeCapability: use, VolumeContext: volume.GetVolumeContext(),
	})
	if err != nil {
		return nil, fmt.Errorf("publish: %w", err)
	}
	found.Device = attached.GetPublishContext()
	grown, err := driver.ControllerExpandVolume(ctx, &csi.ControllerExpandVolumeRequest{
		VolumeId: found.Volume, CapacityRange: &csi.CapacityRange{RequiredBytes: 2 * gib},
	})
	if err != nil {
		return nil, fmt.Errorf("expand: %w", err)
	}
	found.Grown = grown.GetCapacityBytes()
	if _, err := driver.ControllerUnpublishVolume(ctx, &csi.ControllerUnpublishVolumeRequest{
		VolumeId: found.Volume, NodeId: node,
	}); err != nil {
		return nil, fmt.Errorf("unpublish: %w", err)
	}
	if _, err := driver.DeleteVolume(ctx, &csi.DeleteVolumeRequest{VolumeId: found.Volume}); err != nil {
		return nil, fmt.Errorf("delete: %w", err)
	}
	return found, nil
}

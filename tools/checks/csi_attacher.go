// Stands for the attacher that runs beside a storage driver: attachments of Kubernetes become calls of
// the driver, whose answers become their status. Runs until it is terminated.
//
//	check-csi-attacher KUBECONFIG unix:///tmp/csi.sock
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	storage "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

type attacher struct {
	client *kubernetes.Clientset
	driver csi.ControllerClient
	name   string
	queue  workqueue.TypedRateLimitingInterface[string]
	store  cache.Store
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	if len(arguments) != 2 {
		return errors.New("usage: check-csi-attacher KUBECONFIG SOCKET")
	}
	config, err := clientcmd.BuildConfigFromFlags("", arguments[0])
	if err != nil {
		return err
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	connection, err := grpc.NewClient(
		arguments[1], grpc.WithTransportCredentials(insecure.NewCredentials()),
	)
	if err != nil {
		return err
	}
	defer connection.Close()
	info, err := csi.NewIdentityClient(connection).GetPluginInfo(
		ctx, &csi.GetPluginInfoRequest{}, grpc.WaitForReady(true),
	)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Storage().V1().VolumeAttachments().Informer()
	made := &attacher{
		client: client, driver: csi.NewControllerClient(connection), name: info.GetName(),
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](
			100*time.Millisecond, 2*time.Second,
		)),
		store: informer.GetStore(),
	}
	enqueue := func(found any) { made.queue.Add(found.(*storage.VolumeAttachment).Name) }
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, UpdateFunc: func(_, found any) { enqueue(found) },
	}); err != nil {
		return err
	}
	factory.StartWithContext(ctx)
	factory.WaitForCacheSyncWithContext(ctx)
	go func() { <-ctx.Done(); made.queue.ShutDown() }()
	made.work(ctx)
	factory.Shutdown()
	return nil
}

func (a *attacher) work(ctx context.Context) {
	for {
		name, isEnd := a.queue.Get()
		if isEnd {
			return
		}
		if err := a.sync(ctx, name); err != nil {
			fmt.Fprintln(os.Stderr, name, err)
			a.queue.AddRateLimited(name)
		} else {
			a.queue.Forget(name)
		}
		a.queue.Done(name)
	}
}

func (a *attacher) sync(ctx context.Context, name string) error {
	found, isThere, err := a.store.GetByKey(name)
	if err != nil || !isThere {
		return err
	}
	one := found.(*storage.VolumeAttachment)
	held := slices.Contains(one.Finalizers, a.finalizer())
	switch {
	case one.Spec.Attacher != a.name || one.Spec.Source.PersistentVolumeName == nil:
		return nil
	case one.DeletionTimestamp != nil && held:
		return a.detach(ctx, one)
	case one.DeletionTimestamp == nil && !one.Status.Attached:
		return a.attach(ctx, one, held)
	}
	return nil
}

func (a *attacher) finalizer() string {
	return "external-attacher/" + strings.ReplaceAll(a.name, ".", "-")
}

func (a *attacher) attach(ctx context.Context, one *storage.VolumeAttachment, held bool) error {
	if !held {
		finalizers := append(slices.Clone(one.Finalizers), a.finalizer())
		if err := a.patch(ctx, one, "", map[string]any{"metadata": map[string]any{"finalizers": finalizers}}); err != nil {
			return err
		}
	}
	volume, node, err := a.places(ctx, one)
	if err != nil {
		return err
	}
	answer, err := a.driver.ControllerPublishVolume(ctx, &csi.ControllerPublishVolumeRequest{
		VolumeId: volume.VolumeHandle, NodeId: node, Readonly: volume.ReadOnly, VolumeContext: volume.VolumeAttributes,
		VolumeCapability: &csi.VolumeCapability{
			AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{FsType: volume.FSType}},
			AccessMode: &csi.VolumeCapability_AccessMode{Mode: csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER},
		},
	})
	if err != nil {
		return err
	}
	return a.patch(ctx, one, "status", map[string]any{"status": map[string]any{
		"attached": true, "attachmentMetadata": answer.GetPublishContext(),
	}})
}

func (a *attacher) detach(ctx context.Context, one *storage.VolumeAttachment) error {
	volume, node, err := a.places(ctx, one)
	if err != nil {
		return err
	}
	if _, err := a.driver.ControllerUnpublishVolume(ctx, &csi.ControllerUnpublishVolumeRequest{
		VolumeId: volume.VolumeHandle, NodeId: node,
	}); err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(one.Finalizers), func(name string) bool { return name == a.finalizer() })
	return a.patch(ctx, one, "", map[string]any{"metadata": map[string]any{"finalizers": left}})
}

// places returns what the driver calls the volume and the node of an attachment.
func (a *attacher) places(ctx context.Context, one *storage.VolumeAttachment) (*source, string, error) {
	volume, err := a.client.CoreV1().PersistentVolumes().Get(
		ctx, *one.Spec.Source.PersistentVolumeName, metav1.GetOptions{},
	)
	if err != nil {
		return nil, "", err
	}
	node, err := a.client.StorageV1().CSINodes().Get(ctx, one.Spec.NodeName, metav1.GetOptions{})
	if err != nil {
		return nil, "", err
	}
	for _, driver := range node.Spec.Drivers {
		if driver.Name == a.name {
			found := volume.Spec.CSI
			return &source{found.VolumeHandle, found.FSType, found.ReadOnly, found.VolumeAttributes}, driver.NodeID, nil
		}
	}
	return nil, "", fmt.Errorf("node %s does not know the driver %s", one.Spec.NodeName, a.name)
}

type source struct {
	VolumeHandle     string
	FSType           string
	ReadOnly         bool
	VolumeAttributes map[string]string
}

func (a *attacher) patch(ctx context.Context, one *storage.VolumeAttachment, part string, change any) error {
	text, err := json.Marshal(change)
	if err != nil {
		return err
	}
	parts := slices.DeleteFunc([]string{part}, func(name string) bool { return name == "" })
	_, err = a.client.StorageV1().VolumeAttachments().Patch(
		ctx, one.Name, types.MergePatchType, text, metav1.PatchOptions{}, parts...,
	)
	return err
}

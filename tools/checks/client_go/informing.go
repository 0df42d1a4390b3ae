package main

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	factories "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

var (
	definitions = schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	}
	flocks = schema.GroupVersionResource{Group: "pasture.example", Version: "v1", Resource: "flocks"}
)

// nowhere keeps pods from starting: what they would do takes time that is not this program's.
var nowhere = map[string]string{"pasture.example/nowhere": "true"}

const (
	before = 7
	after  = 5
)

type informed struct {
	Added    int  `json:"added"`
	Deleted  int  `json:"deleted"`
	Cached   int  `json:"cached"`
	Requests seen `json:"requests"`
}

type informers struct {
	ConfigMaps informed `json:"config_maps"`
	Pods       informed `json:"pods"`
	Flocks     informed `json:"flocks"`
	Status     int64    `json:"status"`
	Shared     int      `json:"shared"`
	Failed     int      `json:"failed"`
	Ended      bool     `json:"ended"`
}

// inform follows objects that are there already and objects that come, of built-in kinds and of one
// that is defined on the way. Two listeners share one informer.
func inform(ctx context.Context, asked *server) (*informers, error) {
	namespace, err := asked.namespace(ctx, "inform")
	if err != nil {
		return nil, err
	}
	client, _, err := asked.client()
	if err != nil {
		return nil, err
	}
	untyped, _, err := asked.untyped()
	if err != nil {
		return nil, err
	}
	if err := define(ctx, untyped); err != nil {
		return nil, err
	}
	if err := until(ctx, "the account of the namespace is there", func() bool {
		_, err := client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		return err == nil || !asked.hasAccounts(ctx, client)
	}); err != nil {
		return nil, err
	}
	herd := &herd{client: client, flocks: untyped.Resource(flocks).Namespace(namespace), namespace: namespace}
	if err := herd.create(ctx, 0, before); err != nil {
		return nil, err
	}
	return herd.follow(ctx, asked)
}

// hasAccounts tells whether anybody makes accounts here.
func (s *server) hasAccounts(ctx context.Context, client *kubernetes.Clientset) bool {
	_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
	return err == nil
}

func define(ctx context.Context, untyped *dynamic.DynamicClient) error {
	free := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "flocks.pasture.example"},
		"spec": map[string]any{
			"group": "pasture.example", "scope": "Namespaced",
			"names": map[string]any{"plural": "flocks", "singular": "flock", "kind": "Flock"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "properties": map[string]any{"spec": free, "status": free},
				}},
			}},
		},
	}}
	options := metav1.ApplyOptions{FieldManager: "check", Force: true}
	if _, err := untyped.Resource(definitions).Apply(ctx, definition.GetName(), definition, options); err != nil {
		return fmt.Errorf("defining: %w", err)
	}
	return until(ctx, "the kind is served", func() bool {
		_, err := untyped.Resource(flocks).List(ctx, metav1.ListOptions{Limit: 1})
		return err == nil
	})
}

type herd struct {
	client    *kubernetes.Clientset
	flocks    dynamic.ResourceInterface
	namespace string
}

func (h *herd) create(ctx context.Context, from, to int) error {
	for number := from; number < to; number++ {
		name := metav1.ObjectMeta{Name: fmt.Sprintf("one-%d", number)}
		_, err := h.client.CoreV1().ConfigMaps(h.namespace).Create(
			ctx, &corev1.ConfigMap{ObjectMeta: name}, metav1.CreateOptions{},
		)
		if err != nil {
			return err
		}
		pod := &corev1.Pod{ObjectMeta: name, Spec: corev1.PodSpec{
			Containers:   []corev1.Container{{Name: "sheep", Image: "example.org/sheep:1"}},
			NodeSelector: nowhere,
		}}
		if _, err := h.client.CoreV1().Pods(h.namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			return err
		}
		flock := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "pasture.example/v1", "kind": "Flock",
			"metadata": map[string]any{"name": name.Name}, "spec": map[string]any{"sheep": int64(number)},
		}}
		if _, err := h.flocks.Create(ctx, flock, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (h *herd) delete(ctx context.Context, name string) error {
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	if err := h.client.CoreV1().ConfigMaps(h.namespace).Delete(ctx, name, now); err != nil {
		return err
	}
	if err := h.client.CoreV1().Pods(h.namespace).Delete(ctx, name, now); err != nil {
		return err
	}
	return h.flocks.Delete(ctx, name, now)
}

func (h *herd) follow(ctx context.Context, asked *server) (*informers, error) {
	watching, counted, err := asked.client()
	if err != nil {
		return nil, err
	}
	untyped, countedFlocks, err := asked.untyped()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	typed := factories.NewSharedInformerFactoryWithOptions(watching, 0, factories.WithNamespace(h.namespace))
	any := dynamicinformer.NewFilteredDynamicSharedInformerFactory(untyped, 0, h.namespace, nil)
	pods, maps := typed.Core().V1().Pods().Informer(), typed.Core().V1().ConfigMaps().Informer()
	flock := any.ForResource(flocks).Informer()
	tally := map[string]*tallied{"pods": {}, "configmaps": {}, "flocks": {}, "shared": {}}
	for name, informer := range map[string]cache.SharedIndexInformer{
		"pods": pods, "configmaps": maps, "flocks": flock,
	} {
		if _, err := informer.AddEventHandler(tally[name].handler()); err != nil {
			return nil, err
		}
	}
	typed.StartWithContext(ctx)
	any.Start(ctx.Done())
	typed.WaitForCacheSyncWithContext(ctx)
	any.WaitForCacheSync(ctx.Done())
	if _, err := typed.Core().V1().ConfigMaps().Informer().AddEventHandler(tally["shared"].handler()); err != nil {
		return nil, err
	}
	if err := h.change(ctx); err != nil {
		return nil, err
	}
	if err := until(ctx, "informers have seen all", func() bool {
		for name := range tally {
			added, deleted := tally[name].both()
			if added < before+after || deleted < 1 {
				return false
			}
		}
		return true
	}); err != nil {
		return nil, err
	}
	found := &informers{
		ConfigMaps: tally["configmaps"].told(maps, counted.of("configmaps")),
		Pods:       tally["pods"].told(pods, counted.of("pods")),
		Flocks:     tally["flocks"].told(flock, countedFlocks.of("flocks")),
		Failed:     counted.failed() + countedFlocks.failed(),
	}
	found.Shared, _ = tally["shared"].both()
	if one, exists, err := flock.GetStore().GetByKey(h.namespace + "/one-1"); err == nil && exists {
		found.Status, _, _ = unstructured.NestedInt64(one.(*unstructured.Unstructured).Object, "status", "counted")
	}
	cancel()
	typed.Shutdown()
	any.Shutdown()
	found.Ended = true
	return found, nil
}

func (h *herd) change(ctx context.Context) error {
	if err := h.create(ctx, before, before+after); err != nil {
		return err
	}
	patch := []byte(`{"status":{"counted":12}}`)
	if _, err := h.flocks.Patch(
		ctx, "one-1", types.MergePatchType, patch, metav1.PatchOptions{}, "status",
	); err != nil {
		return err
	}
	return h.delete(ctx, "one-0")
}

// tallied counts what a listener is told.
type tallied struct {
	mutex          sync.Mutex
	added, deleted int
}

func (t *tallied) handler() cache.ResourceEventHandler {
	return cache.FilteringResourceEventHandler{
		FilterFunc: func(found any) bool {
			key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(found)
			return err == nil && isOurs(key)
		},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { t.mutex.Lock(); t.added++; t.mutex.Unlock() },
			DeleteFunc: func(any) { t.mutex.Lock(); t.deleted++; t.mutex.Unlock() },
		},
	}
}

func (t *tallied) both() (int, int) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.added, t.deleted
}

func (t *tallied) told(informer cache.SharedIndexInformer, requests seen) informed {
	added, deleted := t.both()
	cached := 0
	for _, key := range informer.GetStore().ListKeys() {
		if isOurs(key) {
			cached++
		}
	}
	return informed{Added: added, Deleted: deleted, Cached: cached, Requests: requests}
}

// isOurs leaves out what controllers put into every namespace.
func isOurs(key string) bool {
	_, name, err := cache.SplitMetaNamespaceKey(key)
	return err == nil && name != "kube-root-ca.crt"
}

package main

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	factories "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
)

func populate(ctx context.Context, client *kubernetes.Clientset, namespace string, many int) error {
	for number := range many {
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("one-%02d", number)}}
		if _, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, made, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// populated is a client with a namespace that holds some ConfigMaps.
func (s *server) populated(ctx context.Context, prefix string, many int) (string, *kubernetes.Clientset, *counts, error) {
	client, counted, err := s.client()
	if err != nil {
		return "", nil, nil, err
	}
	namespace, err := s.namespace(ctx, prefix)
	if err != nil {
		return "", nil, nil, err
	}
	return namespace, client, counted, populate(ctx, client, namespace, many)
}

type pages struct {
	Names     int     `json:"names"`
	Lists     int     `json:"lists"`
	Remaining []int64 `json:"remaining"`
	Kept      bool    `json:"kept"`
	OneMoment bool    `json:"one_moment"`
}

const others = "metadata.name!=kube-root-ca.crt"

// page reads a list in parts, during which an object that is still to come is deleted.
func page(ctx context.Context, asked *server) (*pages, error) {
	namespace, client, counted, err := asked.populated(ctx, "page", 37)
	if err != nil {
		return nil, err
	}
	list := client.CoreV1().ConfigMaps(namespace)
	found := &pages{}
	versions := map[string]bool{}
	reading := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		part, err := list.List(ctx, options)
		if err != nil {
			return nil, err
		}
		versions[part.ResourceVersion] = true
		if part.RemainingItemCount != nil {
			found.Remaining = append(found.Remaining, *part.RemainingItemCount)
		}
		if len(versions) == 1 && part.Continue != "" {
			err = list.Delete(ctx, "one-36", metav1.DeleteOptions{})
		}
		if errors.IsNotFound(err) {
			err = nil
		}
		return part, err
	})
	reading.PageSize = 10
	err = reading.EachListItem(ctx, metav1.ListOptions{}, func(one runtime.Object) error {
		name := one.(*corev1.ConfigMap).Name
		found.Kept = found.Kept || name == "one-36"
		if name != "kube-root-ca.crt" {
			found.Names++
		}
		return nil
	})
	found.Lists, found.OneMoment = counted.of("configmaps").Lists, len(versions) == 1
	return found, err
}

type bookmarks struct {
	Seen    []string `json:"seen"`
	Newest  bool     `json:"newest"`
	Named   string   `json:"named"`
	Ended   bool     `json:"ended"`
	Initial string   `json:"initial"`
}

// bookmark watches until the server ends the watch, which it announces by a bookmark.
func bookmark(ctx context.Context, asked *server) (*bookmarks, error) {
	namespace, client, _, err := asked.populated(ctx, "mark", 1)
	if err != nil {
		return nil, err
	}
	list := client.CoreV1().ConfigMaps(namespace)
	listed, err := list.List(ctx, metav1.ListOptions{FieldSelector: others})
	if err != nil {
		return nil, err
	}
	seconds, yes := int64(5), true
	watching, err := list.Watch(ctx, metav1.ListOptions{
		FieldSelector: others, AllowWatchBookmarks: true, TimeoutSeconds: &seconds,
		ResourceVersion: listed.ResourceVersion,
	})
	if err != nil {
		return nil, err
	}
	made, err := list.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "late"}}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	found := &bookmarks{}
	for event := range watching.ResultChan() {
		one, isMap := event.Object.(*corev1.ConfigMap)
		if !isMap {
			return nil, fmt.Errorf("%s with %v", event.Type, event.Object)
		}
		if last := string(event.Type); len(found.Seen) == 0 || found.Seen[len(found.Seen)-1] != last {
			found.Seen = append(found.Seen, last)
		}
		if event.Type == watch.Bookmark {
			found.Newest, found.Named = newer(one.ResourceVersion, made.ResourceVersion), one.Name
		}
	}
	found.Ended = true
	streamed, err := list.Watch(ctx, metav1.ListOptions{
		FieldSelector: others, AllowWatchBookmarks: true, TimeoutSeconds: &seconds,
		SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	if err != nil {
		return nil, err
	}
	defer streamed.Stop()
	for event := range streamed.ResultChan() {
		one := event.Object.(*corev1.ConfigMap)
		found.Initial += string(event.Type) + " " + one.Name + one.Annotations[metav1.InitialEventsAnnotationKey] + "\n"
		if event.Type == watch.Bookmark {
			break
		}
	}
	return found, nil
}

func newer(one, other string) bool {
	first, err := strconv.Atoi(one)
	second, failed := strconv.Atoi(other)
	return err == nil && failed == nil && first >= second
}

type relisting struct {
	Reason  string `json:"reason"`
	Code    int32  `json:"code"`
	Lists   int    `json:"lists"`
	Watches int    `json:"watches"`
	Cached  int    `json:"cached"`
}

// relist watches from a version that the server has forgotten: one list makes up for it. It is about
// events, of which servers keep no changes beside their store.
func relist(ctx context.Context, asked *server) (*relisting, error) {
	client, counted, err := asked.client()
	if err != nil {
		return nil, err
	}
	namespace, err := asked.namespace(ctx, "old")
	if err != nil {
		return nil, err
	}
	events := client.CoreV1().Events(namespace)
	if err := happen(ctx, client, namespace, 5); err != nil {
		return nil, err
	}
	found := &relisting{}
	if err := found.refused(events.Watch(ctx, metav1.ListOptions{ResourceVersion: asked.old})); err != nil {
		return nil, err
	}
	isFirst := true
	reading := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return events.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			if isFirst {
				options.ResourceVersion, isFirst = asked.old, false
			}
			return events.Watch(ctx, options)
		},
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	store, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: listing{reading}, ObjectType: &corev1.Event{}, Handler: cache.ResourceEventHandlerFuncs{},
	})
	ended := make(chan struct{})
	go func() { defer close(ended); informer.RunWithContext(ctx) }()
	if err := until(ctx, "it is followed", func() bool { return counted.of("events").Watches >= 3 }); err != nil {
		return nil, err
	}
	if err := happen(ctx, client, namespace, 6); err != nil {
		return nil, err
	}
	err = until(ctx, "the new object is seen", func() bool { return len(store.ListKeys()) == 6 })
	requests := counted.of("events")
	found.Lists, found.Watches, found.Cached = requests.Lists, requests.Watches, len(store.ListKeys())
	cancel()
	<-ended
	return found, err
}

// happen makes events until there are so many.
func happen(ctx context.Context, client *kubernetes.Clientset, namespace string, many int) error {
	about := corev1.ObjectReference{Kind: "ConfigMap", Name: "wool", Namespace: namespace}
	for number := range many {
		made := &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("one-%d", number)}, InvolvedObject: about,
		}
		_, err := client.CoreV1().Events(namespace).Create(ctx, made, metav1.CreateOptions{})
		if err != nil && !errors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// listing says of itself that it cannot stream lists, so that what is listed is known.
type listing struct{ *cache.ListWatch }

func (listing) IsWatchListSemanticsUnSupported() bool { return true }

func (r *relisting) refused(watching watch.Interface, err error) error {
	if err == nil {
		defer watching.Stop()
		event := <-watching.ResultChan()
		err = errors.FromObject(event.Object)
	}
	status, isStatus := err.(*errors.StatusError)
	if !isStatus {
		return fmt.Errorf("the old version was not refused: %w", err)
	}
	r.Reason, r.Code = string(status.Status().Reason), status.Status().Code
	return nil
}

type brief struct {
	Seconds  float64 `json:"seconds"`
	Requests seen    `json:"requests"`
	Updates  int64   `json:"updates"`
	Made     int64   `json:"made"`
}

const briefest = 2

// watchBriefly lets the server end every watch soon: the next goes on where the last one ended.
func watchBriefly(ctx context.Context, asked *server) (*brief, error) {
	namespace, client, _, err := asked.populated(ctx, "brief", 1)
	if err != nil {
		return nil, err
	}
	watching, counted, err := asked.client()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	seconds, begun := int64(briefest), time.Now()
	factory := factories.NewSharedInformerFactoryWithOptions(
		watching, 0, factories.WithNamespace(namespace),
		factories.WithTweakListOptions(func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermEqualSelector("metadata.name", "one-00").String()
			options.TimeoutSeconds = &seconds
		}),
	)
	var updates atomic.Int64
	if _, err := factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(any, any) { updates.Add(1) },
	}); err != nil {
		return nil, err
	}
	factory.StartWithContext(ctx)
	factory.WaitForCacheSyncWithContext(ctx)
	found := &brief{}
	for time.Since(begun) < 3*briefest*time.Second {
		found.Made++
		change := fmt.Appendf(nil, `{"data":{"count":"%d"}}`, found.Made)
		if _, err := client.CoreV1().ConfigMaps(namespace).Patch(
			ctx, "one-00", "application/merge-patch+json", change, metav1.PatchOptions{},
		); err != nil {
			return nil, err
		}
		time.Sleep(100 * time.Millisecond)
	}
	err = until(ctx, "all changes are seen", func() bool { return updates.Load() == found.Made })
	found.Updates, found.Requests = updates.Load(), counted.of("configmaps")
	found.Seconds = time.Since(begun).Seconds()
	cancel()
	factory.Shutdown()
	return found, err
}

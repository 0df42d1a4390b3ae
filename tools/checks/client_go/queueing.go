package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	factories "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
)

const (
	objects   = 250
	workers   = 4
	finalizer = "pasture.example/counted"
)

type queued struct {
	Done      int   `json:"done"`
	Added     int64 `json:"added"`
	Updated   int64 `json:"updated"`
	Deleted   int64 `json:"deleted"`
	Handled   int   `json:"handled"`
	Wrong     int   `json:"wrong"`
	Finalized int64 `json:"finalized"`
	Left      int   `json:"left"`
	Retried   int64 `json:"retried"`
	Requests  seen  `json:"requests"`
}

// controller remembers what objects said, and takes their finalizers away when they are to go.
type controller struct {
	client                  *kubernetes.Clientset
	lister                  listers.ConfigMapLister
	queue                   workqueue.TypedRateLimitingInterface[string]
	mutex                   sync.Mutex
	last                    map[string]string
	gone                    map[string]bool
	finalized               atomic.Int64
	retried                 atomic.Int64
	added, updated, deleted atomic.Int64
}

// work lets one client make a thousand changes and a controller with a client of its own follow.
func work(ctx context.Context, asked *server) (*queued, error) {
	namespace, err := asked.namespace(ctx, "queue")
	if err != nil {
		return nil, err
	}
	client, counted, err := asked.client()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := factories.NewSharedInformerFactoryWithOptions(client, 0, factories.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	made := &controller{
		client: client, lister: informer.Lister(), queue: queue,
		last: map[string]string{}, gone: map[string]bool{},
	}
	if _, err := informer.Informer().AddEventHandler(made.handler()); err != nil {
		return nil, err
	}
	factory.StartWithContext(ctx)
	factory.WaitForCacheSyncWithContext(ctx)
	var ended sync.WaitGroup
	for range workers {
		ended.Go(func() { made.run(ctx) })
	}
	driver := &driver{namespace: namespace, wanted: map[string]string{}}
	if err := driver.drive(ctx, asked); err != nil {
		return nil, err
	}
	if err := until(ctx, "all objects are gone", func() bool { return made.deleted.Load() == objects }); err != nil {
		return nil, err
	}
	if err := until(ctx, "the queue is empty", func() bool { return made.knownGone() == objects }); err != nil {
		return nil, err
	}
	found := &queued{
		Done: int(driver.done.Load()), Added: made.added.Load(), Updated: made.updated.Load(),
		Deleted: made.deleted.Load(), Handled: len(made.last), Finalized: made.finalized.Load(),
		Retried: made.retried.Load(), Left: len(informer.Informer().GetStore().ListKeys()),
		Requests: counted.of("configmaps"),
	}
	for key, value := range driver.wanted {
		if made.last[key] != value {
			found.Wrong++
		}
	}
	if _, err := informer.Lister().ConfigMaps(namespace).Get("kube-root-ca.crt"); err == nil {
		found.Left--
	}
	queue.ShutDownWithDrain()
	ended.Wait()
	cancel()
	factory.Shutdown()
	return found, nil
}

func (c *controller) handler() cache.ResourceEventHandler {
	return cache.FilteringResourceEventHandler{
		FilterFunc: func(found any) bool {
			key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(found)
			return err == nil && isOurs(key)
		},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(found any) { c.added.Add(1); c.enqueue(found) },
			UpdateFunc: func(_, found any) { c.updated.Add(1); c.enqueue(found) },
			DeleteFunc: func(found any) { c.deleted.Add(1); c.enqueue(found) },
		},
	}
}

func (c *controller) enqueue(found any) {
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(found); err == nil {
		c.queue.Add(key)
	}
}

func (c *controller) run(ctx context.Context) {
	for {
		key, isEnd := c.queue.Get()
		if isEnd {
			return
		}
		if err := c.reconcile(ctx, key); err != nil {
			c.retried.Add(1)
			c.queue.AddRateLimited(key)
		} else {
			c.queue.Forget(key)
		}
		c.queue.Done(key)
	}
}

func (c *controller) reconcile(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	found, err := c.lister.ConfigMaps(namespace).Get(name)
	if errors.IsNotFound(err) {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.gone[key] = true
		return nil
	}
	if err != nil {
		return err
	}
	c.mutex.Lock()
	c.last[key] = found.Data["step"]
	c.mutex.Unlock()
	if found.DeletionTimestamp == nil || !slices.Contains(found.Finalizers, finalizer) {
		return nil
	}
	return c.finalize(ctx, found)
}

func (c *controller) finalize(ctx context.Context, found *corev1.ConfigMap) error {
	maps := c.client.CoreV1().ConfigMaps(found.Namespace)
	changed := found.DeepCopy()
	changed.Finalizers = nil
	_, err := maps.Update(ctx, changed, metav1.UpdateOptions{})
	if err == nil {
		c.finalized.Add(1)
	}
	if errors.IsNotFound(err) {
		return nil
	}
	return err
}

func (c *controller) knownGone() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return len(c.gone)
}

// driver is who makes the changes: every object is created, updated twice and deleted.
type driver struct {
	namespace string
	mutex     sync.Mutex
	wanted    map[string]string
	done      atomic.Int64
}

func (d *driver) drive(ctx context.Context, asked *server) error {
	client, _, err := asked.client()
	if err != nil {
		return err
	}
	numbers := make(chan int)
	failures := make(chan error, workers)
	for range workers {
		go func() {
			var err error
			for number := range numbers {
				if err == nil {
					err = d.live(ctx, client, number)
				}
			}
			failures <- err
		}()
	}
	for number := range objects {
		numbers <- number
	}
	close(numbers)
	for range workers {
		if failed := <-failures; failed != nil {
			err = failed
		}
	}
	return err
}

func (d *driver) live(ctx context.Context, client *kubernetes.Clientset, number int) error {
	maps := client.CoreV1().ConfigMaps(d.namespace)
	name := fmt.Sprintf("sheep-%03d", number)
	made, err := maps.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{finalizer}},
		Data:       map[string]string{"step": "born"},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating: %w", err)
	}
	d.done.Add(1)
	for _, step := range []string{"grown", fmt.Sprintf("shorn %d", number)} {
		made.Data["step"] = step
		if made, err = maps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("updating: %w", err)
		}
		d.done.Add(1)
	}
	if err := maps.Delete(ctx, name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &made.UID},
	}); err != nil {
		return fmt.Errorf("deleting: %w", err)
	}
	d.done.Add(1)
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.wanted[d.namespace+"/"+name] = made.Data["step"]
	return nil
}

type conflicts struct {
	Attempts int    `json:"attempts"`
	Reason   string `json:"reason"`
	Sum      string `json:"sum"`
}

// conflict writes what somebody else has changed meanwhile, once on purpose and often by chance.
func conflict(ctx context.Context, asked *server) (*conflicts, error) {
	namespace, err := asked.namespace(ctx, "conflict")
	if err != nil {
		return nil, err
	}
	client, _, err := asked.client()
	if err != nil {
		return nil, err
	}
	maps := client.CoreV1().ConfigMaps(namespace)
	stale, err := maps.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "sum"}, Data: map[string]string{"sum": "0"},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	if err := count(ctx, client, namespace, nil); err != nil {
		return nil, err
	}
	found := &conflicts{}
	if err := count(ctx, client, namespace, func() *corev1.ConfigMap {
		if found.Attempts++; found.Attempts == 1 {
			return stale
		}
		return nil
	}); err != nil {
		return nil, err
	}
	stale.Data["sum"] = "-1"
	_, err = maps.Update(ctx, stale, metav1.UpdateOptions{})
	found.Reason = string(errors.ReasonForError(err))
	failures := make(chan error, workers)
	for range workers {
		go func() {
			var err error
			for range 12 {
				if err == nil {
					err = count(ctx, client, namespace, nil)
				}
			}
			failures <- err
		}()
	}
	for range workers {
		if err := <-failures; err != nil {
			return nil, err
		}
	}
	last, err := maps.Get(ctx, "sum", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	found.Sum = last.Data["sum"]
	return found, nil
}

// count adds one; first it may be given an object that is not the newest.
func count(
	ctx context.Context, client *kubernetes.Clientset, namespace string, given func() *corev1.ConfigMap,
) error {
	maps := client.CoreV1().ConfigMaps(namespace)
	patience := retry.DefaultBackoff
	patience.Steps = 40
	patience.Factor = 1.1
	return retry.RetryOnConflict(patience, func() error {
		var found *corev1.ConfigMap
		if given != nil {
			found = given()
		}
		if found == nil {
			var err error
			if found, err = maps.Get(ctx, "sum", metav1.GetOptions{}); err != nil {
				return err
			}
		}
		sum := 0
		if _, err := fmt.Sscan(found.Data["sum"], &sum); err != nil {
			return err
		}
		found = found.DeepCopy()
		found.Data["sum"] = fmt.Sprint(sum + 1)
		_, err := maps.Update(ctx, found, metav1.UpdateOptions{})
		return err
	})
}

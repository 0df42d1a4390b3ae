// Does with an API server what controllers made with client-go do: elects a leader, follows objects
// by shared informers, applies, works off a queue of a thousand changes, reads in pages, watches.
// Prints one document with what it saw, and how often it listed and watched.
//
//	check-client-go KUBECONFIG json|protobuf OLD_RESOURCE_VERSION
//
// KUBE_FEATURE_WatchListClient decides, as for every client, whether informers list or stream.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

const (
	longest  = 2 * time.Minute
	protobuf = "application/vnd.kubernetes.protobuf"
	jsonType = "application/json"
)

// server is where the program asks, and how.
type server struct {
	config     *rest.Config
	isProtobuf bool
	old        string
}

// client is a new one with a count of its requests; nothing is shared with another.
func (s *server) client() (*kubernetes.Clientset, *counts, error) {
	config, counted := counting(s.config)
	if s.isProtobuf {
		config.ContentType = protobuf
		config.AcceptContentTypes = protobuf + "," + jsonType
	}
	made, err := kubernetes.NewForConfig(config)
	return made, counted, err
}

// untyped is a client for objects of any kind; those are always in JSON.
func (s *server) untyped() (*dynamic.DynamicClient, *counts, error) {
	config, counted := counting(s.config)
	made, err := dynamic.NewForConfig(config)
	return made, counted, err
}

// namespace makes one for a part of the work.
func (s *server) namespace(ctx context.Context, prefix string) (string, error) {
	client, _, err := s.client()
	if err != nil {
		return "", err
	}
	wanted := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix + "-"}}
	made, err := client.CoreV1().Namespaces().Create(ctx, wanted, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return made.Name, nil
}

type answer struct {
	Election  *election  `json:"election"`
	Informers *informers `json:"informers"`
	Applying  *applying  `json:"applying"`
	Queue     *queued    `json:"queue"`
	Conflicts *conflicts `json:"conflicts"`
	Pages     *pages     `json:"pages"`
	Bookmarks *bookmarks `json:"bookmarks"`
	Relisting *relisting `json:"relisting"`
	Brief     *brief     `json:"brief"`
}

func main() {
	klog.SetOutput(os.Stderr)
	if err := ask(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func ask(arguments []string) error {
	if len(arguments) != 3 {
		return errors.New("usage: check-client-go KUBECONFIG json|protobuf OLD_RESOURCE_VERSION")
	}
	config, err := clientcmd.BuildConfigFromFlags("", arguments[0])
	if err != nil {
		return err
	}
	config.QPS = -1
	asked := &server{config: config, isProtobuf: arguments[1] == "protobuf", old: arguments[2]}
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	found, err := walk(ctx, asked)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

// walk does all parts; those that mostly wait go on beside the others.
func walk(ctx context.Context, asked *server) (*answer, error) {
	found := &answer{}
	waiting := make(chan error, 3)
	go func() {
		waiting <- part("election", func() (err error) { found.Election, err = elect(ctx, asked); return })
	}()
	go func() {
		waiting <- part("bookmarks", func() (err error) { found.Bookmarks, err = bookmark(ctx, asked); return })
	}()
	go func() {
		waiting <- part("brief watches", func() (err error) { found.Brief, err = watchBriefly(ctx, asked); return })
	}()
	err := errors.Join(
		part("informers", func() (err error) { found.Informers, err = inform(ctx, asked); return }),
		part("applying", func() (err error) { found.Applying, err = apply(ctx, asked); return }),
		part("queue", func() (err error) { found.Queue, err = work(ctx, asked); return }),
		part("conflicts", func() (err error) { found.Conflicts, err = conflict(ctx, asked); return }),
		part("pages", func() (err error) { found.Pages, err = page(ctx, asked); return }),
		part("relisting", func() (err error) { found.Relisting, err = relist(ctx, asked); return }),
	)
	return found, errors.Join(err, <-waiting, <-waiting, <-waiting)
}

func part(name string, do func() error) error {
	if err := do(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// until waits for something to be so; what it waits for is named in the error.
func until(ctx context.Context, what string, is func() bool) error {
	end := time.Now().Add(30 * time.Second)
	for !is() {
		if ctx.Err() != nil || time.Now().After(end) {
			return fmt.Errorf("waited in vain until %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}

package main

import (
	"net/http"
	"path"
	"sync"

	"k8s.io/client-go/rest"
)

// counts tells how often each kind of object was listed and watched, and what was answered.
type counts struct {
	mutex    sync.Mutex
	lists    map[string]int
	watches  map[string]int
	statuses map[int]int
}

// counting returns a copy of a configuration whose clients are counted.
func counting(config *rest.Config) (*rest.Config, *counts) {
	made := rest.CopyConfig(config)
	counted := &counts{
		lists:    map[string]int{},
		watches:  map[string]int{},
		statuses: map[int]int{},
	}
	made.Wrap(func(next http.RoundTripper) http.RoundTripper { return &counter{next, counted} })
	return made, counted
}

type counter struct {
	next    http.RoundTripper
	counted *counts
}

func (c *counter) RoundTrip(request *http.Request) (*http.Response, error) {
	c.counted.asked(request)
	response, err := c.next.RoundTrip(request)
	if err == nil {
		c.counted.answered(response)
	}
	return response, err
}

func (c *counts) asked(request *http.Request) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	kind := path.Base(request.URL.Path)
	switch query := request.URL.Query(); {
	case request.Method != http.MethodGet:
	case query.Get("watch") == "true" || query.Get("watch") == "1":
		c.watches[kind]++
	case collections[kind]:
		c.lists[kind]++
	}
}

func (c *counts) answered(response *http.Response) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.statuses[response.StatusCode]++
}

var collections = map[string]bool{"configmaps": true, "events": true, "pods": true, "flocks": true}

// seen is a snapshot of the requests for one kind.
type seen struct {
	Lists   int `json:"lists"`
	Watches int `json:"watches"`
}

func (c *counts) of(kind string) seen {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return seen{Lists: c.lists[kind], Watches: c.watches[kind]}
}

// failed tells how many answers refused what was asked.
func (c *counts) failed() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	found := 0
	for status, times := range c.statuses {
		if status >= http.StatusBadRequest {
			found += times
		}
	}
	return found
}

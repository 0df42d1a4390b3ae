package main

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

const (
	lease    = "shepherd"
	duration = 3 * time.Second
	deadline = 2 * time.Second
	pause    = 400 * time.Millisecond
)

type election struct {
	First       string   `json:"first"`
	Second      string   `json:"second"`
	Observed    []string `json:"observed"`
	Waited      bool     `json:"waited"`
	Transitions int32    `json:"transitions"`
	Left        string   `json:"left"`
	LedAtOnce   bool     `json:"led_at_once"`
}

// elect lets two candidates want the same lease. The first falls silent, the second takes over when
// the lease has run out, and lets go of it in the end.
func elect(ctx context.Context, asked *server) (*election, error) {
	namespace, err := asked.namespace(ctx, "elect")
	if err != nil {
		return nil, err
	}
	client, _, err := asked.client()
	if err != nil {
		return nil, err
	}
	leases := client.CoordinationV1().Leases(namespace)
	first, err := candidate(ctx, client, namespace, "dolly", false)
	if err != nil {
		return nil, err
	}
	<-first.leads
	second, err := candidate(ctx, client, namespace, "molly", true)
	if err != nil {
		return nil, err
	}
	held, err := leases.Get(ctx, lease, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	found := &election{First: *held.Spec.HolderIdentity}
	time.Sleep(2 * pause)
	select {
	case <-second.leads:
		found.LedAtOnce = true
	default:
	}
	first.stop()
	stopped := time.Now()
	<-first.ended
	<-second.leads
	found.Waited = time.Since(stopped) >= duration-2*pause
	if held, err = leases.Get(ctx, lease, metav1.GetOptions{}); err != nil {
		return nil, err
	}
	found.Second, found.Transitions = *held.Spec.HolderIdentity, *held.Spec.LeaseTransitions
	second.stop()
	<-second.ended
	found.Observed = second.observed
	if held, err = leases.Get(ctx, lease, metav1.GetOptions{}); err != nil {
		return nil, err
	}
	if held.Spec.HolderIdentity != nil {
		found.Left = *held.Spec.HolderIdentity
	}
	return found, nil
}

type running struct {
	leads    chan struct{}
	ended    chan struct{}
	stop     context.CancelFunc
	observed []string
}

func candidate(
	ctx context.Context, client *kubernetes.Clientset, namespace, name string, lets bool,
) (*running, error) {
	ctx, stop := context.WithCancel(ctx)
	made := &running{leads: make(chan struct{}), ended: make(chan struct{}), stop: stop}
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Name: lease, Namespace: namespace},
		Client:     client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: name},
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: duration, RenewDeadline: deadline, RetryPeriod: pause,
		ReleaseOnCancel: lets, Name: name,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(made.leads) },
			OnStoppedLeading: func() {},
			OnNewLeader:      func(who string) { made.observed = append(made.observed, who) },
		},
	})
	if err != nil {
		stop()
		return nil, err
	}
	go func() {
		defer close(made.ended)
		elector.Run(ctx)
	}()
	return made, nil
}

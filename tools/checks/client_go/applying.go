package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
)

type applying struct {
	Conflict  string            `json:"conflict"`
	Causes    []string          `json:"causes"`
	Forced    map[string]string `json:"forced"`
	Extracted map[string]string `json:"extracted"`
	LetGo     map[string]string `json:"let_go"`
	Managers  []string          `json:"managers"`
	Same      bool              `json:"same"`
	Images    []string          `json:"images"`
	Scaled    int32             `json:"scaled"`
}

// apply lets two managers own parts of a ConfigMap and of a Deployment.
func apply(ctx context.Context, asked *server) (*applying, error) {
	namespace, err := asked.namespace(ctx, "apply")
	if err != nil {
		return nil, err
	}
	client, _, err := asked.client()
	if err != nil {
		return nil, err
	}
	maps := client.CoreV1().ConfigMaps(namespace)
	mine := coreapply.ConfigMap("wool", namespace).WithData(map[string]string{"colour": "white", "kilos": "3"})
	first, err := maps.Apply(ctx, mine, metav1.ApplyOptions{FieldManager: "shearer"})
	if err != nil {
		return nil, err
	}
	again, err := maps.Apply(ctx, mine, metav1.ApplyOptions{FieldManager: "shearer"})
	if err != nil {
		return nil, err
	}
	found := &applying{Same: first.ResourceVersion == again.ResourceVersion}
	other := coreapply.ConfigMap("wool", namespace).WithData(map[string]string{"colour": "black"})
	_, err = maps.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "dyer"})
	if !errors.IsConflict(err) {
		return nil, err
	}
	found.Conflict = err.Error()
	for _, cause := range err.(*errors.StatusError).Status().Details.Causes {
		found.Causes = append(found.Causes, cause.Field)
	}
	forced, err := maps.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "dyer", Force: true})
	if err != nil {
		return nil, err
	}
	found.Forced = forced.Data
	extracted, err := coreapply.ExtractConfigMap(forced, "shearer")
	if err != nil {
		return nil, err
	}
	found.Extracted = extracted.Data
	less := coreapply.ConfigMap("wool", namespace)
	let, err := maps.Apply(ctx, less, metav1.ApplyOptions{FieldManager: "shearer"})
	if err != nil {
		return nil, err
	}
	found.LetGo = let.Data
	for _, entry := range let.ManagedFields {
		found.Managers = append(found.Managers, string(entry.Operation)+" "+entry.Manager)
	}
	return found, found.deploy(ctx, asked, namespace)
}

// deploy adds a container to somebody else's Deployment, and scales it by its subresource.
func (a *applying) deploy(ctx context.Context, asked *server, namespace string) error {
	client, _, err := asked.client()
	if err != nil {
		return err
	}
	deployments := client.AppsV1().Deployments(namespace)
	labels := map[string]string{"app": "barn"}
	wanted := func(containers ...*coreapply.ContainerApplyConfiguration) *appsapply.DeploymentApplyConfiguration {
		return appsapply.Deployment("barn", namespace).WithSpec(appsapply.DeploymentSpec().
			WithSelector(metaapply.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(coreapply.PodTemplateSpec().WithLabels(labels).
				WithSpec(coreapply.PodSpec().WithContainers(containers...).WithNodeSelector(nowhere))))
	}
	own := coreapply.Container().WithName("sheep").WithImage("example.org/sheep:1").
		WithPorts(coreapply.ContainerPort().WithContainerPort(8080).WithProtocol(corev1.ProtocolTCP))
	if _, err := deployments.Apply(ctx, wanted(own), metav1.ApplyOptions{FieldManager: "owner"}); err != nil {
		return err
	}
	beside := coreapply.Container().WithName("dog").WithImage("example.org/dog:2")
	made, err := deployments.Apply(ctx, wanted(beside), metav1.ApplyOptions{FieldManager: "guest"})
	if err != nil {
		return err
	}
	for _, container := range made.Spec.Template.Spec.Containers {
		a.Images = append(a.Images, container.Image)
	}
	scale, err := deployments.GetScale(ctx, "barn", metav1.GetOptions{})
	if err != nil {
		return err
	}
	scale.Spec.Replicas = 3
	if scale, err = deployments.UpdateScale(ctx, "barn", scale, metav1.UpdateOptions{}); err != nil {
		return err
	}
	a.Scaled = scale.Spec.Replicas
	return nil
}

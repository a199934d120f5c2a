package awscli

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// Stack is a stage's deployed stack. [CLI.Describe] fills its status and outputs, and
// [CLI.Deployed] its resources.
type Stack struct {
	Name      string
	Status    string            // CloudFormation's, such as UPDATE_COMPLETE
	Outputs   map[string]string // by name
	Resources []Resource

	properties map[string]json.RawMessage // the template's, by logical id; nil until [CLI.Properties] reads them
}

// Resource is a resource of a deployed stack.
type Resource struct {
	LogicalResourceId  string
	PhysicalResourceId string
	ResourceType       string
}

// StackName returns the name of a stage's stack (infra/stack.go).
func StackName(stage string) string { return "agentsocial-" + stage }

// Describe returns the status and the outputs of a stage's stack. If there is no stack, the
// status is "".
func (c CLI) Describe(ctx context.Context, stage string) (Stack, error) {
	s := Stack{Name: StackName(stage), Outputs: map[string]string{}}
	var list struct {
		Stacks []struct {
			StackStatus string
			Outputs     []struct{ OutputKey, OutputValue string }
		}
	}
	err := c.Do(ctx, &list, "cloudformation", "describe-stacks", "--stack-name", s.Name)
	if missing(err) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	for _, x := range list.Stacks {
		s.Status = x.StackStatus
		for _, o := range x.Outputs {
			s.Outputs[o.OutputKey] = o.OutputValue
		}
	}
	return s, nil
}

// Deployed returns a stage's stack with its resources. It is an error if there is no stack.
func (c CLI) Deployed(ctx context.Context, stage string) (*Stack, error) {
	s := &Stack{Name: StackName(stage)}
	var list struct{ StackResourceSummaries []Resource }
	err := c.Do(ctx, &list, "cloudformation", "list-stack-resources", "--stack-name", s.Name)
	if missing(err) {
		return s, fmt.Errorf("there is no stack %s in this account and region: set STAGE and AWS_REGION to those of the stage", s.Name)
	}
	s.Resources = list.StackResourceSummaries
	return s, err
}

// missing reports whether err is CloudFormation's answer for a stack that does not exist.
func missing(err error) bool {
	return Refused(err, "ValidationError") && strings.Contains(err.Error(), "does not exist")
}

// All returns the resources of a type.
func (s *Stack) All(kind string) (all []Resource) {
	for _, r := range s.Resources {
		if r.ResourceType == kind {
			all = append(all, r)
		}
	}
	return all
}

// The resource types that commands look for.
const (
	TypeAPI      = "AWS::ApiGatewayV2::Api"
	TypeFunction = "AWS::Lambda::Function"
	TypeMapping  = "AWS::Lambda::EventSourceMapping"
	TypeStage    = "AWS::ApiGatewayV2::Stage"
	TypeSchedule = "AWS::Scheduler::Schedule"
	TypeIdentity = "AWS::SES::EmailIdentity"
	TypeAlarm    = "AWS::CloudWatch::Alarm"
	TypeQueue    = "AWS::SQS::Queue"
)

// Function returns the Lambda function of this name, such as "feed".
func (s *Stack) Function(name string) (Resource, error) {
	return s.called(TypeFunction, name, "Function")
}

// Mapping returns the event source mapping of a reader.
func (s *Stack) Mapping(reader string) (Resource, error) {
	return s.called(TypeMapping, reader, "FunctionMapping")
}

// hash matches the hash that the CDK appends to a logical id.
var hash = regexp.MustCompile(`[0-9A-F]{8}$`)

func (s *Stack) called(kind, name, suffix string) (Resource, error) {
	var names []string
	for _, r := range s.All(kind) {
		if n, ok := strings.CutSuffix(hash.ReplaceAllString(r.LogicalResourceId, ""), suffix); ok {
			if n == name {
				return r, nil
			}
			names = append(names, n)
		}
	}
	return Resource{}, fmt.Errorf("NAME is %q; the stack %s has %q", name, s.Name, names)
}

// Properties decodes a resource's properties in the deployed template into *into. It reads
// the template once per Stack.
func (c CLI) Properties(ctx context.Context, s *Stack, r Resource, into any) error {
	if s.properties == nil {
		if err := c.readTemplate(ctx, s); err != nil {
			return err
		}
	}
	found, ok := s.properties[r.LogicalResourceId]
	if !ok {
		return fmt.Errorf("the template of %s has no resource %s", s.Name, r.LogicalResourceId)
	}
	if found == nil {
		return nil
	}
	if err := json.Unmarshal(found, into); err != nil {
		return fmt.Errorf("%s of the template of %s: %w", r.LogicalResourceId, s.Name, err)
	}
	return nil
}

func (c CLI) readTemplate(ctx context.Context, s *Stack) error {
	var answer struct{ TemplateBody json.RawMessage }
	if err := c.Do(ctx, &answer, "cloudformation", "get-template", "--stack-name", s.Name, "--template-stage", "Original"); err != nil {
		return err
	}
	body := []byte(answer.TemplateBody)
	var text string
	if json.Unmarshal(body, &text) == nil { // the CLI printed the template as a string
		body = []byte(text)
	}
	var template struct {
		Resources map[string]struct{ Properties json.RawMessage }
	}
	if err := json.Unmarshal(body, &template); err != nil {
		return fmt.Errorf("the template of %s is not JSON: %w", s.Name, err)
	}
	s.properties = map[string]json.RawMessage{}
	for id, r := range template.Resources {
		s.properties[id] = r.Properties
	}
	return nil
}

package main

import (
	"maps"
	"strings"
	"testing"
)

func TestCanary(t *testing.T) {
	s := of(t, whole)
	app, _ := s.only(t, "AWS::CodeDeploy::Application")
	fails, a := s.named(t, "AWS::CloudWatch::Alarm", "CanaryFails")
	if got, want := a.rings(), "IF(m1 >= 3, 100 * m1 / m2, 0) of m1=Sum of AWS/ApiGateway 5xx ApiId=${Api}, m2=Sum of AWS/ApiGateway Count ApiId=${Api} in 60 s GreaterThanThreshold 1, 1 times, missing is notBreaching"; got != want {
		t.Errorf("CanaryFails:\n  %s, want\n  %s", got, want)
	}
	slow, a := s.named(t, "AWS::CloudWatch::Alarm", "CanarySlow")
	if got, want := a.rings(), "IF(m2 >= 20, m1, 0) of m1=p99 of AWS/ApiGateway Latency ApiId=${Api}, m2=Sum of AWS/ApiGateway Count ApiId=${Api} in 60 s GreaterThanThreshold 3000, 2 times, missing is notBreaching"; got != want {
		t.Errorf("CanarySlow:\n  %s, want\n  %s", got, want)
	}
	aliases, versions, groups := s.all("AWS::Lambda::Alias"), s.all("AWS::Lambda::Version"), s.all("AWS::CodeDeploy::DeploymentGroup")
	if n := len(s.groups); len(aliases) != n || len(versions) != n || len(groups) != n {
		t.Errorf("got %d aliases, %d versions and %d deployment groups, want %d of each", len(aliases), len(versions), len(groups), n)
	}
	for _, g := range s.groups {
		function, _ := s.function(t, g.Name)
		version, v := s.named(t, "AWS::Lambda::Version", g.Name+"Function")
		v.expect(t, version, map[string]string{"FunctionName": "${" + function + "}"})
		id, alias := s.named(t, "AWS::Lambda::Alias", g.Name+"Function")
		alias.expect(t, id, map[string]string{"Name": "live", "FunctionName": "${" + function + "}", "FunctionVersion": "${" + version + ".Version}", "RoutingConfig": ""})
		moves, group := s.named(t, "AWS::CodeDeploy::DeploymentGroup", g.Name+"Function")
		group.expect(t, moves, map[string]string{
			"ApplicationName": "${" + app + "}", "DeploymentConfigName": "CodeDeployDefault.LambdaCanary10Percent5Minutes",
			"DeploymentStyle":           `{"DeploymentOption":"WITH_TRAFFIC_CONTROL","DeploymentType":"BLUE_GREEN"}`,
			"AlarmConfiguration":        `{"Alarms":[{"Name":{"Ref":"` + fails + `"}},{"Name":{"Ref":"` + slow + `"}}],"Enabled":true}`,
			"AutoRollbackConfiguration": `{"Enabled":true,"Events":["DEPLOYMENT_FAILURE","DEPLOYMENT_STOP_ON_ALARM","DEPLOYMENT_STOP_ON_REQUEST"]}`,
		})
		if got, want := plain(alias.UpdatePolicy), `{"CodeDeployLambdaAliasUpdate":{"ApplicationName":{"Ref":"`+app+`"},"DeploymentGroupName":{"Ref":"`+moves+`"}}}`; got != want {
			t.Errorf("%s: update policy is %s, want %s", id, got, want)
		}
		_, integration := s.named(t, "AWS::ApiGatewayV2::Integration", g.Name+"Function")
		permission, p := s.named(t, "AWS::Lambda::Permission", g.Name+"FunctionPermission")
		if plain(integration.Properties["IntegrationUri"]) != "${"+id+"}" || plain(p.Properties["FunctionName"]) != "${"+id+"}" {
			t.Errorf("%s: the gateway calls %v and may call %v, want the alias %s for both", g.Name, integration.Properties["IntegrationUri"], p.Properties["FunctionName"], id)
		}
		if !strings.Contains(strings.Join(list(integration.DependsOn), " "), permission) {
			t.Errorf("%s: the integration depends on %v, want also on the permission", g.Name, integration.DependsOn)
		}
	}
}

func TestCanary_Off(t *testing.T) {
	s := of(t, defaults)
	found := map[string]resource{}
	for _, kind := range []string{"AWS::CodeDeploy::Application", "AWS::CodeDeploy::DeploymentGroup", "AWS::Lambda::Alias", "AWS::Lambda::Version"} {
		maps.Copy(found, s.all(kind))
	}
	for id := range s.all("AWS::CloudWatch::Alarm") {
		if strings.HasPrefix(id, "Canary") {
			found[id] = s.Resources[id]
		}
	}
	if len(found) > 0 {
		t.Errorf("without canary: got %v, want none", keys(found))
	}
}

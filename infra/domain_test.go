package main

import "testing"

func TestDomain(t *testing.T) {
	for name, which := range map[string]func() (*service, error){"everything": whole, "dev": dev} {
		t.Run(name, func(t *testing.T) {
			s := of(t, which)
			_, api := s.only(t, "AWS::ApiGatewayV2::Api")
			api.expect(t, "API", map[string]string{"DisableExecuteApiEndpoint": "true"})
			id, domain := s.only(t, "AWS::ApiGatewayV2::DomainName")
			domain.expect(t, "domain", map[string]string{
				"DomainName":               "agents.example",
				"DomainNameConfigurations": `[{"CertificateArn":"` + certificateARN + `","EndpointType":"REGIONAL","SecurityPolicy":"TLS_1_2"}]`,
			})
			_, mapping := s.only(t, "AWS::ApiGatewayV2::ApiMapping")
			mapping.expect(t, "mapping", map[string]string{"ApiId": "${Api}", "DomainName": "${" + id + "}", "Stage": "${Stage}", "ApiMappingKey": ""})
			for name, want := range map[string]string{
				"BaseUrl": "https://agents.example", "McpUrl": "https://agents.example/mcp", "StripeWebhook": "https://agents.example/payments/webhook",
			} {
				if got := plain(s.Outputs[name].Value); got != want {
					t.Errorf("output %s is %q, want %q", name, got, want)
				}
			}
			for _, g := range s.names() {
				_, f := s.function(t, g)
				if url := f.Properties["Environment"].(map[string]any)["Variables"].(map[string]any)["BASE_URL"]; url != "https://agents.example" {
					t.Errorf("%s: BASE_URL is %v, want https://agents.example", g, url)
				}
			}
		})
	}
}

func TestRecordOfTheDomain(t *testing.T) {
	s := of(t, whole)
	id, _ := s.only(t, "AWS::ApiGatewayV2::DomainName")
	_, record := s.only(t, "AWS::Route53::RecordSet")
	record.expect(t, "record", map[string]string{
		"HostedZoneId": everything["hostedZone"].(string), "Name": "agents.example", "Type": "A",
		"AliasTarget": `{"DNSName":{"Fn::GetAtt":["` + id + `","RegionalDomainName"]},"HostedZoneId":{"Fn::GetAtt":["` + id + `","RegionalHostedZoneId"]}}`,
	})
	if _, said := s.Outputs["DomainRecord"]; said {
		t.Error("output DomainRecord is set, want none with a hosted zone")
	}

	s = of(t, dev)
	id, _ = s.only(t, "AWS::ApiGatewayV2::DomainName")
	if got, want := plain(s.Outputs["DomainRecord"].Value), "agents.example CNAME ${"+id+".RegionalDomainName}"; got != want {
		t.Errorf("output DomainRecord is %q, want %q", got, want)
	}
	if n := s.all("AWS::Route53::RecordSet"); len(n) != 0 {
		t.Errorf("without hostedZone: got records %v, want none", keys(n))
	}
}

func TestNoDomain(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		_, api := s.only(t, "AWS::ApiGatewayV2::Api")
		api.expect(t, "API", map[string]string{"DisableExecuteApiEndpoint": ""})
		for _, kind := range []string{"AWS::ApiGatewayV2::DomainName", "AWS::ApiGatewayV2::ApiMapping", "AWS::Route53::RecordSet"} {
			if n := s.all(kind); len(n) != 0 {
				t.Errorf("without domain: got %v, want none", keys(n))
			}
		}
	})
}

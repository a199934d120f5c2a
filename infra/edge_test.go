package main

import (
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/functions/docs"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

func bare(t *testing.T) *service {
	t.Helper()
	needNode(t)
	s, err := synthesise("bare-edge", fakes, map[string]any{"edge": true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEdge(t *testing.T) {
	s := bare(t)
	cache, policy := s.only(t, "AWS::CloudFront::CachePolicy")
	if got := plain(policy.Properties["CachePolicyConfig"]); got != `{"Comment":"Stores what Cache-Control allows","DefaultTTL":0,"MaxTTL":86400,"MinTTL":0,"Name":{"Fn::Join":["",["agentsocial-prod-",{"Ref":"AWS::Region"}]]},`+
		`"ParametersInCacheKeyAndForwardedToOrigin":{"CookiesConfig":{"CookieBehavior":"none"},"EnableAcceptEncodingBrotli":false,"EnableAcceptEncodingGzip":true,`+
		`"HeadersConfig":{"HeaderBehavior":"whitelist","Headers":["Authorization","X-Agent-Key","Accept"]},"QueryStringsConfig":{"QueryStringBehavior":"all"}}}` {
		t.Errorf("cache policy is %s, want a key of query, encoding and the headers %q, and the lifetime of Cache-Control", got, cacheKey)
	}
	function, _ := s.only(t, "AWS::CloudFront::Function")
	id, d := s.only(t, "AWS::CloudFront::Distribution")
	config := d.Properties["DistributionConfig"].(map[string]any)
	for name, want := range map[string]string{
		"Aliases": "", "Logging": "", "WebACLId": "", "Enabled": "true", "ViewerCertificate": `{"CloudFrontDefaultCertificate":true}`,
	} {
		if got := plain(config[name]); got != want {
			t.Errorf("distribution: %s is %q, want %q", name, got, want)
		}
	}
	behaviour := resource{Properties: config["DefaultCacheBehavior"].(map[string]any)}
	behaviour.expect(t, "behaviour", map[string]string{
		"ViewerProtocolPolicy": "https-only", "Compress": "false", "CachePolicyId": "${" + cache + "}", "OriginRequestPolicyId": allViewerExceptHost,
		"AllowedMethods": `["GET","HEAD","OPTIONS","PUT","PATCH","POST","DELETE"]`, "CachedMethods": `["GET","HEAD"]`,
		"FunctionAssociations": `[{"EventType":"viewer-request","FunctionARN":{"Fn::GetAtt":["` + function + `","FunctionARN"]}}]`,
	})
	origin := resource{Properties: config["Origins"].([]any)[0].(map[string]any)}
	secret := ""
	for id, r := range s.all("AWS::SecretsManager::Secret") {
		if strings.HasPrefix(id, "EdgeSecret") {
			secret = id
			if r.DeletionPolicy != "Delete" {
				t.Errorf("the edge's secret has the deletion policy %s, want Delete: it protects no data", r.DeletionPolicy)
			}
		}
	}
	origin.expect(t, "origin", map[string]string{
		"DomainName":          `{"Fn::Select":[2,{"Fn::Split":["/",{"Fn::GetAtt":["Api","ApiEndpoint"]}]}]}`,
		"CustomOriginConfig":  `{"OriginKeepaliveTimeout":60,"OriginProtocolPolicy":"https-only","OriginReadTimeout":35,"OriginSSLProtocols":["TLSv1.2"]}`,
		"OriginCustomHeaders": `[{"HeaderName":"X-Origin-Secret","HeaderValue":{"Fn::Join":["",["{{resolve:secretsmanager:",{"Ref":"` + secret + `"},":SecretString:::}}"]]}}]`,
	})
	errors := config["CustomErrorResponses"].([]any)
	for _, e := range errors {
		e := e.(map[string]any)
		if e["ErrorCachingMinTTL"] != 0.0 || e["ResponsePagePath"] != nil {
			t.Errorf("error %v: got %v, want it neither stored nor replaced", e["ErrorCode"], e)
		}
	}
	if len(errors) != len(uncachedErrors) {
		t.Errorf("got %d codes of errors, want %d", len(errors), len(uncachedErrors))
	}
	for name, want := range map[string]string{"BaseUrl": "https://${" + id + ".DomainName}", "McpUrl": "https://${" + id + ".DomainName}/mcp"} {
		if got := plain(s.Outputs[name].Value); got != want {
			t.Errorf("output %s is %q, want %q", name, got, want)
		}
	}
	_, gateway := s.only(t, "AWS::ApiGatewayV2::Api")
	gateway.expect(t, "API", map[string]string{"DisableExecuteApiEndpoint": ""})
	for _, g := range s.groups {
		_, f := s.function(t, g.Name)
		env := f.Properties["Environment"].(map[string]any)["Variables"].(map[string]any)
		if got := plain(env["EDGE_SECRET_ARN"]); got != "${"+secret+"}" {
			t.Errorf("%s: EDGE_SECRET_ARN is %q, want the secret %s", g.Name, got, secret)
		}
		if got := plain(env["BASE_URL"]); got != "https://${"+id+".DomainName}" {
			t.Errorf("%s: BASE_URL is %q, want the distribution's", g.Name, got)
		}
		if !slices.Contains(list(f.DependsOn), id) {
			t.Errorf("%s does not wait for the distribution", g.Name)
		}
	}
	for _, r := range s.readers {
		_, f := s.function(t, r.Name)
		if env := f.Properties["Environment"].(map[string]any)["Variables"].(map[string]any); env["EDGE_SECRET_ARN"] != nil {
			t.Errorf("%s: EDGE_SECRET_ARN is set, want it only in functions behind the API", r.Name)
		}
	}
}

func TestEdge_Rights(t *testing.T) {
	for _, which := range []*service{bare(t), of(t, fake)} {
		secret := ""
		for id := range which.all("AWS::SecretsManager::Secret") {
			if strings.HasPrefix(id, "EdgeSecret") {
				secret = id
			}
		}
		for _, name := range which.names() {
			may := false
			for id, role := range which.all("AWS::IAM::Role") {
				if strings.HasPrefix(id, name+"Role") && secret != "" {
					may = strings.Contains(plain(role.Properties["Policies"]), secret)
				}
			}
			isGroup := slices.ContainsFunc(which.groups, func(g api.Group) bool { return g.Name == name })
			if may != (isGroup && secret != "") {
				t.Errorf("function %s may read the edge's secret %q: got %v, want %v", name, secret, may, isGroup && secret != "")
			}
		}
	}
}

func TestEdge_WithDomain(t *testing.T) {
	s := of(t, edged)
	id, d := s.only(t, "AWS::CloudFront::Distribution")
	firewall, acl := s.only(t, "AWS::WAFv2::WebACL")
	config := resource{Properties: d.Properties["DistributionConfig"].(map[string]any)}
	config.expect(t, "distribution", map[string]string{
		"Aliases": `["agents.example"]`, "WebACLId": "${" + firewall + ".Arn}",
		"ViewerCertificate": `{"AcmCertificateArn":"` + edgeCertificateARN + `","MinimumProtocolVersion":"TLSv1.2_2021","SslSupportMethod":"sni-only"}`,
	})
	if got := plain(config.Properties["Origins"]); !strings.Contains(got, ":SecretString:::"+edgeVersion+"}}") {
		t.Errorf("origins are %s, want the version %s of the secret", got, edgeVersion)
	}
	for _, kind := range []string{"AWS::ApiGatewayV2::DomainName", "AWS::ApiGatewayV2::ApiMapping"} {
		if n := s.all(kind); len(n) != 0 {
			t.Errorf("the gateway has %v, want none: the domain is the edge's", keys(n))
		}
	}
	_, gateway := s.only(t, "AWS::ApiGatewayV2::Api")
	gateway.expect(t, "API", map[string]string{"DisableExecuteApiEndpoint": ""})
	var records []string
	for _, r := range s.all("AWS::Route53::RecordSet") {
		r.expect(t, "record", map[string]string{
			"HostedZoneId": "Z0123456789", "Name": "agents.example",
			"AliasTarget": `{"DNSName":{"Fn::GetAtt":["` + id + `","DomainName"]},"HostedZoneId":"Z2FDTNDATAQYW2"}`,
		})
		records = append(records, plain(r.Properties["Type"]))
	}
	if slices.Sort(records); !slices.Equal(records, []string{"A", "AAAA"}) {
		t.Errorf("records are %q, want A and AAAA", records)
	}
	for name, want := range map[string]string{"Scope": "CLOUDFRONT", "DefaultAction": `{"Allow":{}}`} {
		if got := plain(acl.Properties[name]); got != want {
			t.Errorf("web ACL: %s is %s, want %s", name, got, want)
		}
	}
	rules := plain(acl.Properties["Rules"])
	if !strings.Contains(rules, `"RateBasedStatement":{"AggregateKeyType":"IP","EvaluationWindowSec":300,"Limit":15000}`) || strings.Contains(rules, "CommonRuleSet") {
		t.Errorf("rules are %s, want 15000 requests in 300 seconds and no rule about contents", rules)
	}
	if strings.Contains(plain(acl.Properties), `"SampledRequestsEnabled":true`) {
		t.Error("the web ACL keeps samples of requests, credentials included; want none")
	}
	if _, said := s.Outputs["DomainRecord"]; said {
		t.Error("output DomainRecord is set, want none with a hosted zone")
	}
	asked, err := synthesise("edge-asked", fakes, map[string]any{"edge": true, "domain": "agents.example", "certificateArn": edgeCertificateARN, "webAcl": webACLARN})
	if err != nil {
		t.Fatal(err)
	}
	id, d = asked.only(t, "AWS::CloudFront::Distribution")
	if got, want := plain(asked.Outputs["DomainRecord"].Value), "agents.example CNAME ${"+id+".DomainName}"; got != want {
		t.Errorf("output DomainRecord is %q, want %q", got, want)
	}
	if got := plain(d.Properties["DistributionConfig"].(map[string]any)["WebACLId"]); got != webACLARN {
		t.Errorf("web ACL is %q, want the setting's", got)
	}
}

// The distribution's metrics are in us-east-1, also if the stack is in another region.
func TestEdge_Dashboard(t *testing.T) {
	s := of(t, edged)
	id, _ := s.only(t, "AWS::CloudFront::Distribution")
	shown := 0
	for _, w := range s.page(t).Widgets {
		b, err := json.Marshal(w.Properties.Metrics)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), "AWS/CloudFront") {
			continue
		}
		shown++
		if w.Properties.Region != edgeRegion || !strings.Contains(string(b), `"Region","Global","DistributionId","${`+id) {
			t.Errorf("%s: got region %s and metrics %s, want %s and those of the distribution", w.Properties.Title, w.Properties.Region, b, edgeRegion)
		}
	}
	if shown != 3 {
		t.Errorf("the dashboard has %d graphs of the edge, want 3", shown)
	}
	_, alarm := s.named(t, "AWS::CloudWatch::Alarm", "EdgeWrong")
	for _, message := range []string{api.EdgeUnknown, api.EdgeAddressed} {
		if got := plain(alarm.Properties["Metrics"]); !strings.Contains(got, `{"Name":"msg","Value":"`+message+`"}`) {
			t.Errorf("the alarm EdgeWrong watches %s, want also the message %q", got, message)
		}
	}
}

const webACLARN = "arn:aws:wafv2:us-east-1:123456789012:global/webacl/mine/01234567-89ab-cdef-0123-456789abcdef"

func TestEdge_Off(t *testing.T) {
	b, err := json.Marshal(of(t, defaults).Resources)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"CloudFront", "WAFv2", "EDGE_SECRET_ARN", "EdgeSecret"} {
		if strings.Contains(string(b), name) {
			t.Errorf("the template has %s, want it without", name)
		}
	}
}

func TestEdge_Address(t *testing.T) {
	needNode(t)
	program := addressCode + `console.log(JSON.stringify(handler({viewer: {ip: "203.0.113.9"}, request: {uri: "/v1/me", headers: {"x-agent-key": {value: "k"}, "x-viewer-address": {value: "198.51.100.1"}}}})));`
	out, err := exec.Command("node", "-e", program).CombinedOutput()
	if want := `{"uri":"/v1/me","headers":{"x-agent-key":{"value":"k"},"x-viewer-address":{"value":"203.0.113.9"}}}`; err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("addressCode: got %s, %v; want %s", out, err, want)
	}
}

func TestEdge_KeyHasWhatAnswersVaryBy(t *testing.T) {
	a := &app.App{Now: time.Now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler), Settings: app.DefaultSettings()}
	a.Settings.BaseURL = "https://agents.example"
	service := httptest.NewServer(api.NewServer(a, docs.New(a)))
	defer service.Close()
	for _, path := range []string{"/docs", "/openapi.json", "/llms.txt"} {
		res, err := http.Get(service.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		vary := strings.Split(res.Header.Get("Vary"), ", ")
		if res.StatusCode != 200 || !strings.HasPrefix(res.Header.Get("Cache-Control"), "public, max-age=") || len(vary) < 3 {
			t.Errorf("%s: got %d, Cache-Control %q and Vary %q, want 200, public and three names or more", path, res.StatusCode, res.Header.Get("Cache-Control"), vary)
		}
		for _, name := range vary {
			if name != "Accept-Encoding" && !slices.Contains(cacheKey, name) { // CloudFront adds Accept-Encoding
				t.Errorf("%s varies by %s, which is not in the key of stored answers", path, name)
			}
		}
	}
}

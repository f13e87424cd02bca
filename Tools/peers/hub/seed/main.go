// seed makes devices for the benchmark, at the hub by its REST API and in the tables of the peer.
//
//	seed -count 20000 -platform apple|browser -service https://localhost:8443 -hub URL -key KEY -database URL
//
// The tag of device N is `username:userN`, as a dispatcher writes it. All browsers have one key pair: nobody decrypts.
package main

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v4"
)

func main() {
	count := flag.Int("count", 20_000, "devices")
	platform := flag.String("platform", "apple", "apple or browser")
	service := flag.String("service", "", "origin of the push service")
	hub := flag.String("hub", "", "URL of the hub, with its name")
	rule := flag.String("rule", "all", "rule of the hub")
	key := flag.String("key", "", "key of the rule")
	database := flag.String("database", "", "PostgreSQL of the peer")
	flag.Parse()

	device, err := ecdh.P256().GenerateKey(rand.Reader)
	check(err)
	p256dh := base64.RawURLEncoding.EncodeToString(device.PublicKey().Bytes())
	auth := base64.RawURLEncoding.EncodeToString([]byte("0123456789abcdef"))
	handle := func(n int) string {
		hash := sha256.Sum256(fmt.Appendf(nil, "%d", n))
		if *platform == "apple" {
			return hex.EncodeToString(hash[:])
		}
		return *service + "/apple/" + base64.RawURLEncoding.EncodeToString(hash[:])
	}

	ctx := context.Background()
	if *database != "" {
		db, err := pgx.Connect(ctx, *database)
		check(err)
		rows := pgx.CopyFromSlice(*count, func(n int) ([]any, error) {
			return []any{"bench", *platform, fmt.Sprintf("username:user%d", n), handle(n), p256dh, auth}, nil
		})
		columns := []string{"hub", "platform", "tag", "handle", "p256dh", "auth"}
		_, err = db.CopyFrom(ctx, pgx.Identifier{"peer_devices"}, columns, rows)
		check(err)
		_, err = db.Exec(ctx, "ANALYZE peer_devices")
		check(err)
	}
	if *hub == "" {
		return
	}
	fmt.Println(token(*hub, *rule, *key))
	authorization := token(*hub, *rule, *key)
	var next atomic.Int64
	var group sync.WaitGroup
	for range 32 {
		group.Go(func() {
			for n := int(next.Add(1)) - 1; n < *count; n = int(next.Add(1)) - 1 {
				channel := fmt.Sprintf("%q", handle(n))
				name := "apns"
				if *platform == "browser" {
					name = "browser"
					channel = fmt.Sprintf(`{"endpoint":%q,"p256dh":%q,"auth":%q}`, handle(n), p256dh, auth)
				}
				id := fmt.Sprintf("%s-%d", *platform, n)
				body := fmt.Appendf(nil, `{"installationId":%q,"platform":%q,"pushChannel":%s,"tags":["username:user%d"]}`,
					id, name, channel, n)
				put(*hub+"/installations/"+id+"?api-version=2020-06", authorization, body)
			}
		})
	}
	group.Wait()
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}

func put(to, authorization string, body []byte) {
	request, err := http.NewRequest(http.MethodPut, to, bytes.NewReader(body))
	check(err)
	request.Header.Set("Authorization", authorization)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	check(err)
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusOK {
		log.Fatalf("The hub answers %s: %s", response.Status, text)
	}
}

// token is a shared access signature that is valid for a day.
func token(to, rule, key string) string {
	resource := url.QueryEscape(strings.ToLower(to))
	expiry := time.Now().Add(24 * time.Hour).Unix()
	mac := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(mac, "%s\n%d", resource, expiry)
	signature := url.QueryEscape(base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return fmt.Sprintf("SharedAccessSignature sr=%s&sig=%s&se=%d&skn=%s", resource, signature, expiry, rule)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

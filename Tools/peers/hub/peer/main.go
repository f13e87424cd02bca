// peer is the part of a notification hub that a send uses, as a good engineer writes it in Go: the REST send of Azure
// Notification Hubs, devices in PostgreSQL by a pool of pgx, pushes by net/http to APNs or Web Push. A send is answered
// 201 when its pushes are accepted, refused for good, or stored to be tried again. Messages are written behind the
// answer, many in one COPY, as hub does.
//
// Settings: LISTEN, DATABASE_URL, ACCESS_KEY; CA_FILE; APNS_ENDPOINT, APNS_KEY_FILE, APNS_TOPIC; VAPID_KEY_FILE.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const acceptTimeout = 2 * time.Second

type hub struct {
	store     *store
	client    *http.Client
	accessKey []byte
	apns      *apns
	vapid     *vapid
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	h := &hub{accessKey: []byte(os.Getenv("ACCESS_KEY")), client: newClient(os.Getenv("CA_FILE"))}
	if path := os.Getenv("APNS_KEY_FILE"); path != "" {
		h.apns = newAPNs(path, os.Getenv("APNS_ENDPOINT"), os.Getenv("APNS_TOPIC"))
	}
	if path := os.Getenv("VAPID_KEY_FILE"); path != "" {
		h.vapid = newVAPID(path)
	}
	h.store = openStore(ctx, os.Getenv("DATABASE_URL"))
	go h.retry(ctx)

	mux := http.NewServeMux()
	mux.HandleFunc("POST /{hub}/messages/{$}", h.send)
	mux.HandleFunc("POST /{hub}/messages", h.send)
	server := &http.Server{Addr: os.Getenv("LISTEN"), Handler: mux}
	go func() {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		server.Shutdown(end)
	}()
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		log.Fatal(err)
	}
	h.store.close()
}

// newClient trusts one authority more, and speaks HTTP/2.
func newClient(authorities string) *http.Client {
	pool, err := x509.SystemCertPool()
	check(err)
	if authorities != "" {
		text, err := os.ReadFile(authorities)
		check(err)
		pool.AppendCertsFromPEM(text)
	}
	return &http.Client{
		Transport: &http.Transport{
			ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: pool}, MaxIdleConnsPerHost: 100,
			IdleConnTimeout: 10 * time.Minute,
			HTTP2:           &http.HTTP2Config{SendPingTimeout: time.Minute, PingTimeout: 5 * time.Second},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// send is `POST /{hub}/messages`.
func (h *hub) send(w http.ResponseWriter, r *http.Request) {
	if !h.isAuthorized(r) {
		http.Error(w, "The token is not valid.", http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, "The body is too large.", http.StatusRequestEntityTooLarge)
		return
	}
	platform := r.Header.Get("ServiceBusNotification-Format")
	if platform != "apple" && platform != "browser" {
		http.Error(w, "The format is unknown.", http.StatusBadRequest)
		return
	}
	received := time.Now()
	tags := r.Header.Get("ServiceBusNotification-Tags")
	devices, err := h.store.devices(r.Context(), r.PathValue("hub"), platform, strings.Split(tags, "||"))
	if err != nil {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "The database is not available.", http.StatusServiceUnavailable)
		return
	}
	m := message{
		id: newID(), hub: r.PathValue("hub"), tags: tags, platform: platform, body: body, enqueued: received,
		headers: pushHeaders(r.Header),
	}
	outcomes, waiting := h.deliver(m, devices)
	if len(waiting) > 0 {
		if err := h.store.keep(context.WithoutCancel(r.Context()), m, waiting); err != nil {
			w.Header().Set("Retry-After", "5")
			http.Error(w, "The push cannot be stored.", http.StatusServiceUnavailable)
			return
		}
	}
	m.outcomes, m.completed = outcomes, time.Now()
	h.store.note(m)
	w.Header().Set("Location", fmt.Sprintf("http://%s/%s/messages/%s?api-version=2020-06", r.Host, m.hub, m.id))
	w.Header().Set("SecurePush-Outcome", outcomes)
	w.WriteHeader(http.StatusCreated)
}

// deliver pushes to all devices at the same time. It returns the outcomes, and the devices that are to be tried again.
func (h *hub) deliver(m message, devices []device) (string, []device) {
	if len(devices) == 0 {
		return "NoTargetFound", nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), acceptTimeout)
	defer cancel()
	results := make([]outcome, len(devices))
	if len(devices) == 1 {
		results[0] = h.push(ctx, m, devices[0])
	} else {
		done := make(chan struct{}, len(devices))
		for i := range devices {
			go func() {
				results[i] = h.push(ctx, m, devices[i])
				done <- struct{}{}
			}()
		}
		for range devices {
			<-done
		}
	}
	counts := map[outcome]int{}
	var waiting []device
	for i, result := range results {
		counts[result]++
		switch result {
		case unknown:
			waiting = append(waiting, devices[i])
		case expiredChannel, badChannel:
			go h.store.remove(devices[i])
		}
	}
	return describe(counts), waiting
}

func (h *hub) push(ctx context.Context, m message, d device) outcome {
	switch {
	case m.platform == "apple" && h.apns != nil:
		return h.apns.push(ctx, h.client, m, d)
	case m.platform == "browser" && h.vapid != nil:
		return h.vapid.push(ctx, h.client, m, d)
	}
	return credentialError
}

// retry pushes what is stored, once per second.
func (h *hub) retry(ctx context.Context) {
	for ticker := time.NewTicker(time.Second); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		h.store.claim(ctx, func(m message, d device) outcome {
			ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			return h.push(ctx, m, d)
		})
	}
}

// isAuthorized checks a shared access signature.
func (h *hub) isAuthorized(r *http.Request) bool {
	text, isSAS := strings.CutPrefix(r.Header.Get("Authorization"), "SharedAccessSignature ")
	if !isSAS {
		return false
	}
	var resource, signature, expiry string
	for part := range strings.SplitSeq(text, "&") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "sr":
			resource = value
		case "sig":
			signature = value
		case "se":
			expiry = value
		}
	}
	given, err := url.QueryUnescape(signature)
	end, failure := strconv.ParseInt(expiry, 10, 64)
	if err != nil || failure != nil || end < time.Now().Unix() {
		return false
	}
	mac := hmac.New(sha256.New, h.accessKey)
	io.WriteString(mac, resource+"\n"+expiry)
	raw, err := base64.StdEncoding.DecodeString(given)
	return err == nil && hmac.Equal(raw, mac.Sum(nil))
}

func describe(counts map[outcome]int) string {
	if len(counts) == 1 {
		for name, count := range counts {
			if count == 1 {
				return string(name)
			}
		}
	}
	parts := make([]string, 0, len(counts))
	for name, count := range counts {
		parts = append(parts, fmt.Sprintf("%s=%d", name, count))
	}
	sort.Strings(parts)
	return strings.Join(parts, ", ")
}

func newID() string {
	var raw [16]byte
	rand.Read(raw[:])
	return hex.EncodeToString(raw[:])
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

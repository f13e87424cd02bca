// fake is a push service for measurements: APNs or Web Push, by HTTP/2 over TLS. It checks cheaply what a push must
// have, verifies each token once, counts, and stores nothing. `scripts/push-services.sh` is the strict one. The kind
// `hub` stands in for a notification hub that pushes nothing, by HTTP/1.1.
//
//	fake -kind apns|web-push|hub -listen 127.0.0.1:8443 -folder DIR [-latency 20ms]
//
// It writes its authority to DIR/ca.pem. `GET /stats` has the counts.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	accepted, refused, bytesRead, connections atomic.Int64
	verified                                  sync.Map
	latency                                   time.Duration
)

func main() {
	kind := flag.String("kind", "apns", "apns or web-push")
	listen := flag.String("listen", "127.0.0.1:8443", "address")
	folder := flag.String("folder", ".", "where ca.pem is written")
	key := flag.String("public-key", "", "PEM of the key that signs APNs' tokens; empty: tokens are not verified")
	flag.DurationVar(&latency, "latency", 0, "how long an answer takes")
	flag.Parse()

	push := checkWebPush
	switch *kind {
	case "apns":
		push = checkAPNs(readKey(*key))
	case "hub":
		push = checkHub
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"accepted":%d,"refused":%d,"bytes":%d,"connections":%d}`+"\n",
			accepted.Load(), refused.Load(), bytesRead.Load(), connections.Load())
	})
	mux.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 8192))
		if err != nil {
			return
		}
		bytesRead.Add(int64(len(body)))
		if latency > 0 {
			time.Sleep(latency)
		}
		if reason := push(r, body); reason != "" {
			refused.Add(1)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"reason":%q}`, reason)
			return
		}
		accepted.Add(1)
		if *kind == "apns" {
			w.Header().Set("apns-id", "EC1BF194-B3B2-424A-89F9-5A918A6E6B5F")
			return
		}
		w.Header().Set("Location", r.URL.Path+"/1")
		w.WriteHeader(http.StatusCreated)
	})
	if *kind == "hub" {
		log.Fatal(http.ListenAndServe(*listen, mux))
	}
	server := &http.Server{
		Addr: *listen, Handler: mux, TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate(*folder)}},
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 1000},
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				connections.Add(1)
			}
		},
	}
	log.Fatal(server.ListenAndServeTLS("", ""))
}

// checkAPNs returns a check with the reason of a refusal, in Apple's words.
func checkAPNs(key *ecdsa.PublicKey) func(*http.Request, []byte) string {
	return func(r *http.Request, body []byte) string {
		token, isDevice := strings.CutPrefix(r.URL.Path, "/3/device/")
		if raw, err := hex.DecodeString(token); !isDevice || err != nil || len(raw) < 16 {
			return "BadDeviceToken"
		}
		if r.ProtoMajor != 2 || len(body) == 0 || len(body) > 5120 || body[0] != '{' {
			return "PayloadEmpty"
		}
		if r.Header.Get("apns-topic") == "" {
			return "MissingTopic"
		}
		text, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "bearer ")
		if !isBearer || !isSigned(text, key) {
			return "InvalidProviderToken"
		}
		return ""
	}
}

func checkHub(r *http.Request, _ []byte) string {
	if r.Header.Get("Authorization") == "" || r.Header.Get("ServiceBusNotification-Format") == "" {
		return "BadRequest"
	}
	return ""
}

func checkWebPush(r *http.Request, body []byte) string {
	// Salt, record size, key ID of 65 bytes; a record with at least one byte, the delimiter and the tag (RFC 8188).
	if r.ProtoMajor != 2 || len(body) < 86+18 || len(body) > 4096 || body[20] != 65 || body[21] != 4 {
		return "BadRequest"
	}
	if r.Header.Get("Content-Encoding") != "aes128gcm" {
		return "BadContentEncoding"
	}
	if _, err := strconv.ParseUint(r.Header.Get("TTL"), 10, 31); err != nil {
		return "BadTtl"
	}
	rest, isVAPID := strings.CutPrefix(r.Header.Get("Authorization"), "vapid t=")
	token, public, hasKey := strings.Cut(rest, ", k=")
	point, err := base64.RawURLEncoding.DecodeString(public)
	if !isVAPID || !hasKey || err != nil {
		return "MissingAuthorization"
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil || !isSigned(token, key) {
		return "BadJwtToken"
	}
	return ""
}

// isSigned verifies a JWT of ES256, each one once.
func isSigned(token string, key *ecdsa.PublicKey) bool {
	if known, ok := verified.Load(token); ok {
		return known.(bool)
	}
	at := strings.LastIndexByte(token, '.')
	if at < 0 {
		return false
	}
	signature, err := base64.RawURLEncoding.DecodeString(token[at+1:])
	if err != nil || len(signature) != 64 {
		return false
	}
	hash := sha256.Sum256([]byte(token[:at]))
	r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
	isGood := key == nil || ecdsa.Verify(key, hash[:], r, s)
	verified.Store(token, isGood)
	return isGood
}

func readKey(path string) *ecdsa.PublicKey {
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	check(err)
	block, _ := pem.Decode(text)
	if block == nil {
		log.Fatalf("%s is not PEM", path)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	check(err)
	return key.(*ecdsa.PublicKey)
}

// certificate makes an authority, writes it to ca.pem, and returns a certificate of it for this machine.
func certificate(folder string) tls.Certificate {
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Fake push service"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(72 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, authority, authority, &authorityKey.PublicKey, authorityKey)
	check(err)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	check(os.WriteFile(filepath.Join(folder, "ca.pem"), text, 0o644))
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: authority.NotBefore, NotAfter: authority.NotAfter,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, leaf, authority, &key.PublicKey, authorityKey)
	check(err)
	return tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

package main

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

type outcome string

// Azure's names.
const (
	success         outcome = "Success"
	unknown         outcome = "Unknown"
	expiredChannel  outcome = "ExpiredChannel"
	badChannel      outcome = "BadChannel"
	invalid         outcome = "InvalidNotificationFormat"
	tooLarge        outcome = "InvalidNotificationSize"
	credentialError outcome = "PnsCredentialError"
)

var passed = []string{
	"Apns-Push-Type", "Apns-Priority", "Apns-Expiration", "Apns-Collapse-Id", "Apns-Topic", "Ttl", "Urgency", "Topic",
}

func pushHeaders(all http.Header) map[string]string {
	headers := map[string]string{}
	for _, name := range passed {
		if value := all.Get(name); value != "" {
			headers[name] = value
		}
	}
	return headers
}

// post sends a request. Its status is 0 if there is no answer.
func post(ctx context.Context, client *http.Client, to string, body []byte, fill func(http.Header)) (int, string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return http.StatusBadRequest, ""
	}
	fill(request.Header)
	response, err := client.Do(request)
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	return response.StatusCode, string(answer)
}

// A jwt is a token that is made anew after a time.
type jwt struct {
	mutex  sync.Mutex
	text   string
	renew  time.Time
	key    *ecdsa.PrivateKey
	header string
}

func (t *jwt) token(claims func(now time.Time) (string, time.Duration)) string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	now := time.Now()
	if now.Before(t.renew) {
		return t.text
	}
	text, lifetime := claims(now)
	signed := encode([]byte(t.header)) + "." + encode([]byte(text))
	hash := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, t.key, hash[:])
	check(err)
	var signature [64]byte
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	t.text, t.renew = signed+"."+encode(signature[:]), now.Add(lifetime)
	return t.text
}

type apns struct {
	endpoint, topic string
	jwt             jwt
}

// newAPNs reads a key whose name is AuthKey_KEYID.p8.
func newAPNs(path, endpoint, topic string) *apns {
	header := `{"alg":"ES256","kid":"ABC1234567"}`
	return &apns{endpoint: endpoint, topic: topic, jwt: jwt{key: readKey(path), header: header}}
}

func (a *apns) push(ctx context.Context, client *http.Client, m message, d device) outcome {
	token := a.jwt.token(func(now time.Time) (string, time.Duration) {
		return fmt.Sprintf(`{"iss":"DEF1234567","iat":%d}`, now.Unix()), 45 * time.Minute
	})
	status, reason := post(ctx, client, a.endpoint+"/3/device/"+d.handle, m.body, func(h http.Header) {
		for name, value := range m.headers {
			h[name] = []string{value}
		}
		if h.Get("Apns-Topic") == "" {
			h["Apns-Topic"] = []string{a.topic}
		}
		h["Authorization"] = []string{"bearer " + token}
	})
	switch {
	case status == 200:
		return success
	case status == 410:
		return expiredChannel
	case status == 400 && strings.Contains(reason, "BadDeviceToken"):
		return badChannel
	case status == 413:
		return tooLarge
	case status == 0 || status == 403 || status == 429 || status >= 500:
		return unknown
	}
	return invalid
}

type vapid struct {
	key    *ecdsa.PrivateKey
	public string
	mutex  sync.RWMutex
	tokens map[string]*jwt
}

func newVAPID(path string) *vapid {
	key := readKey(path)
	point, err := key.PublicKey.Bytes()
	check(err)
	return &vapid{key: key, public: encode(point), tokens: map[string]*jwt{}}
}

// authorization is the value for a push service (RFC 8292).
func (v *vapid) authorization(origin string) string {
	v.mutex.RLock()
	token := v.tokens[origin]
	v.mutex.RUnlock()
	if token == nil {
		v.mutex.Lock()
		if token = v.tokens[origin]; token == nil {
			token = &jwt{key: v.key, header: `{"typ":"JWT","alg":"ES256"}`}
			v.tokens[origin] = token
		}
		v.mutex.Unlock()
	}
	text := token.token(func(now time.Time) (string, time.Duration) {
		expiry := now.Add(12 * time.Hour).Unix()
		return fmt.Sprintf(`{"aud":%q,"exp":%d,"sub":"mailto:ops@example.org"}`, origin, expiry), 6 * time.Hour
	})
	return "vapid t=" + text + ", k=" + v.public
}

func (v *vapid) push(ctx context.Context, client *http.Client, m message, d device) outcome {
	place, err := url.Parse(d.handle)
	if err != nil || place.Scheme != "https" {
		return badChannel
	}
	body, err := encrypt(m.body, d.p256dh, d.auth)
	if err != nil {
		return badChannel
	}
	authorization := v.authorization("https://" + place.Host)
	status, _ := post(ctx, client, d.handle, body, func(h http.Header) {
		h["Ttl"], h["Urgency"] = []string{"2419200"}, []string{"normal"}
		for name, value := range m.headers {
			h[name] = []string{value}
		}
		h["Content-Encoding"], h["Content-Type"] = []string{"aes128gcm"}, []string{"application/octet-stream"}
		h["Authorization"] = []string{authorization}
	})
	switch {
	case status >= 200 && status < 300:
		return success
	case status == 404 || status == 410:
		return expiredChannel
	case status == 413:
		return tooLarge
	case status == 0 || status == 401 || status == 403 || status == 429 || status >= 500:
		return unknown
	}
	return invalid
}

var sizes = []int{128, 512, 1024, 2048, 3993}

// encrypt makes one record of aes128gcm (RFC 8188, RFC 8291), filled up to the next of some sizes.
func encrypt(content []byte, p256dh, auth string) ([]byte, error) {
	public, err := base64.RawURLEncoding.DecodeString(p256dh)
	if err != nil {
		return nil, err
	}
	secret, err := base64.RawURLEncoding.DecodeString(auth)
	if err != nil {
		return nil, err
	}
	device, err := ecdh.P256().NewPublicKey(public)
	if err != nil {
		return nil, err
	}
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	shared, err := own.ECDH(device)
	if err != nil {
		return nil, err
	}
	sender := own.PublicKey().Bytes()
	input, err := hkdf.Key(sha256.New, shared, secret, "WebPush: info\x00"+string(public)+string(sender), 32)
	if err != nil {
		return nil, err
	}
	size := 0
	for _, size = range sizes {
		if size >= len(content) {
			break
		}
	}
	if size < len(content) {
		return nil, errors.New("the message is too large")
	}
	out := make([]byte, 86+size+1, 86+size+1+16)
	rand.Read(out[:16])
	binary.BigEndian.PutUint32(out[16:], 4096)
	out[20] = byte(len(sender))
	copy(out[21:], sender)
	copy(out[86:], content)
	out[86+len(content)] = 2
	pseudorandom, err := hkdf.Extract(sha256.New, input, out[:16])
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Expand(sha256.New, pseudorandom, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Expand(sha256.New, pseudorandom, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	gcm.Seal(out[86:86], nonce, out[86:], nil)
	return out[:cap(out)], nil
}

func encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// readKey reads a key on P-256 in PKCS#8.
func readKey(path string) *ecdsa.PrivateKey {
	text, err := os.ReadFile(path)
	check(err)
	block, _ := pem.Decode(text)
	if block == nil {
		log.Fatalf("%s is not PEM", path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	check(err)
	return key.(*ecdsa.PrivateKey)
}

package android.security.keystore;

import java.security.GeneralSecurityException;
import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyPairGeneratorSpi;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.ProviderException;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.KeyAgreement;
import javax.crypto.KeyAgreementSpi;
import javax.crypto.SecretKey;

/** A stand-in for the X25519 of the Android Keystore, as Android 13 has it: the app never gets a private key. */
public class StandInX25519 {
    public static final Map<String, PrivateKey> KEYS = new ConcurrentHashMap<>();
    /** Whether the device has X25519. */
    public static boolean isThere = true;
    /** Whether exchanges fail now. */
    public static boolean isBusy;
    /** Whether exchanges return something else. */
    public static boolean isWrong;

    /** A device without keys on which everything works. */
    public static void reset() {
        KEYS.clear();
        isThere = true;
        isBusy = false;
        isWrong = false;
    }

    /** Puts a private key of 32 bytes into the Keystore. */
    public static void put(String alias, byte[] key) throws GeneralSecurityException {
        byte[] encoded = new byte[PKCS8_PREFIX.length + key.length];
        System.arraycopy(PKCS8_PREFIX, 0, encoded, 0, PKCS8_PREFIX.length);
        System.arraycopy(key, 0, encoded, PKCS8_PREFIX.length, key.length);
        KEYS.put(alias, KeyFactory.getInstance("X25519").generatePrivate(new PKCS8EncodedKeySpec(encoded)));
    }

    /** RFC 8410, section 7. */
    private static final byte[] PKCS8_PREFIX = {
        0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x6e, 0x04, 0x22, 0x04, 0x20
    };

    /** What the app gets in place of a private key. */
    public static class Handle implements PrivateKey {
        final String alias;

        Handle(String alias) { this.alias = alias; }

        @Override public String getAlgorithm() { return "XDH"; }
        @Override public String getFormat() { return null; }
        @Override public byte[] getEncoded() { return null; }
    }

    /** Makes keys. */
    public static class Generator extends KeyPairGeneratorSpi {
        private KeyGenParameterSpec spec;

        @Override public void initialize(int size, SecureRandom random) { }

        @Override public void initialize(AlgorithmParameterSpec parameters, SecureRandom random)
            throws InvalidAlgorithmParameterException {
            spec = (KeyGenParameterSpec) parameters;
            String curve = ((ECGenParameterSpec) spec.algorithmParameters).getName();
            if (!curve.equals("x25519") || spec.purposes != KeyProperties.PURPOSE_AGREE_KEY) {
                throw new InvalidAlgorithmParameterException(curve);
            }
        }

        @Override public KeyPair generateKeyPair() {
            if (!isThere) throw new ProviderException("There is no X25519.");
            try {
                KeyPair made = KeyPairGenerator.getInstance("X25519").generateKeyPair();
                KEYS.put(spec.alias, made.getPrivate());
                return new KeyPair(made.getPublic(), new Handle(spec.alias));
            } catch (NoSuchAlgorithmException e) {
                throw new ProviderException(e);
            }
        }
    }

    /** Exchanges. */
    public static class Agreement extends KeyAgreementSpi {
        private String alias;
        private Key peer;

        @Override protected void engineInit(Key key, SecureRandom random) throws InvalidKeyException {
            if (!(key instanceof Handle)) throw new InvalidKeyException("This is no key of the Keystore.");
            alias = ((Handle) key).alias;
        }

        @Override protected void engineInit(Key key, AlgorithmParameterSpec spec, SecureRandom random)
            throws InvalidKeyException {
            engineInit(key, random);
        }

        @Override protected Key engineDoPhase(Key key, boolean isLast) {
            peer = (PublicKey) key;
            return null;
        }

        @Override protected byte[] engineGenerateSecret() {
            if (isBusy) throw new ProviderException("Keystore operation failed");
            try {
                KeyAgreement agreement = KeyAgreement.getInstance("X25519");
                agreement.init(KEYS.get(alias));
                agreement.doPhase(peer, true);
                byte[] secret = agreement.generateSecret();
                if (isWrong) secret[0] ^= 1;
                return secret;
            } catch (NoSuchAlgorithmException | InvalidKeyException e) {
                throw new ProviderException("Keystore operation failed", e);
            }
        }

        @Override protected int engineGenerateSecret(byte[] secret, int offset) {
            throw new UnsupportedOperationException();
        }

        @Override protected SecretKey engineGenerateSecret(String algorithm) {
            throw new UnsupportedOperationException();
        }
    }
}

package android.security.keystore;

import java.security.GeneralSecurityException;
import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyPairGeneratorSpi;
import java.security.PrivateKey;
import java.security.ProviderException;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.spec.AlgorithmParameterSpec;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.KeyAgreement;
import javax.crypto.KeyAgreementSpi;
import javax.crypto.SecretKey;

/** A stand-in for the key agreement of the Android Keystore, as Android 12 has it: the app never gets a private key. */
public class StandInP256 {
    public static final Map<String, PrivateKey> KEYS = new ConcurrentHashMap<>();
    /** Whether the device agrees on keys in the Keystore, and in a secure element. */
    public static boolean isThere = true;
    public static boolean hasStrongBox = true;
    /** Whether exchanges fail now. */
    public static boolean isBusy;
    /** Whether exchanges return something else. */
    public static boolean isWrong;
    /** How many keys are made in the secure element. */
    public static int inStrongBox;

    /** A device without keys on which everything works. */
    public static void reset() {
        KEYS.clear();
        isThere = true;
        hasStrongBox = true;
        isBusy = false;
        isWrong = false;
        inStrongBox = 0;
    }

    /** What the app gets in place of a private key. */
    public static class Handle implements PrivateKey {
        final String alias;

        Handle(String alias) { this.alias = alias; }

        @Override public String getAlgorithm() { return "EC"; }
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
            if (spec.purposes != KeyProperties.PURPOSE_AGREE_KEY) throw new InvalidAlgorithmParameterException();
        }

        @Override public KeyPair generateKeyPair() {
            if (!isThere) throw new ProviderException("There is no key agreement.");
            if (spec.isStrongBoxBacked && !hasStrongBox) throw new ProviderException("There is no StrongBox.");
            try {
                KeyPairGenerator generator = KeyPairGenerator.getInstance("EC", "SunEC");
                generator.initialize(spec.algorithmParameters);
                KeyPair made = generator.generateKeyPair();
                KEYS.put(spec.alias, made.getPrivate());
                if (spec.isStrongBoxBacked) inStrongBox += 1;
                return new KeyPair(made.getPublic(), new Handle(spec.alias));
            } catch (GeneralSecurityException e) {
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
                KeyAgreement agreement = KeyAgreement.getInstance("ECDH", "SunEC");
                agreement.init(KEYS.get(alias));
                agreement.doPhase(peer, true);
                byte[] secret = agreement.generateSecret();
                if (isWrong) secret[0] ^= 1;
                return secret;
            } catch (GeneralSecurityException e) {
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

package android.security.keystore;

import java.io.InputStream;
import java.io.OutputStream;
import java.security.InvalidAlgorithmParameterException;
import java.security.Key;
import java.security.KeyStoreSpi;
import java.security.Provider;
import java.security.SecureRandom;
import java.security.Security;
import java.security.cert.Certificate;
import java.security.spec.AlgorithmParameterSpec;
import java.util.Collections;
import java.util.Date;
import java.util.Enumeration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.KeyGeneratorSpi;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

/** A stand-in for the provider of the Android Keystore: its keys are in memory. */
public class StandInProvider extends Provider {
    public static final Map<String, SecretKey> KEYS = new ConcurrentHashMap<>();
    public static int made;

    public StandInProvider() {
        super("AndroidKeyStore", 1.0, "stand-in");
        put("KeyStore.AndroidKeyStore", Store.class.getName());
        put("KeyGenerator.AES", Generator.class.getName());
        put("KeyPairGenerator.EC", StandInP256.Generator.class.getName());
        put("KeyAgreement.ECDH", StandInP256.Agreement.class.getName());
    }

    /** Lets the platform find the provider, without any keys. */
    public static void install() {
        if (Security.getProvider("AndroidKeyStore") == null) Security.addProvider(new StandInProvider());
        KEYS.clear();
        StandInP256.reset();
    }

    /** Makes keys. */
    public static class Generator extends KeyGeneratorSpi {
        private KeyGenParameterSpec spec;

        @Override protected void engineInit(SecureRandom random) { }
        @Override protected void engineInit(int size, SecureRandom random) { }

        @Override protected void engineInit(AlgorithmParameterSpec spec, SecureRandom random)
            throws InvalidAlgorithmParameterException {
            this.spec = (KeyGenParameterSpec) spec;
        }

        @Override protected SecretKey engineGenerateKey() {
            byte[] bytes = new byte[spec.keySize / 8];
            new SecureRandom().nextBytes(bytes);
            SecretKey key = new SecretKeySpec(bytes, "AES");
            KEYS.put(spec.alias, key);
            made += 1;
            return key;
        }
    }

    /** Finds keys. */
    public static class Store extends KeyStoreSpi {
        @Override public Key engineGetKey(String alias, char[] password) {
            return StandInP256.KEYS.containsKey(alias) ? new StandInP256.Handle(alias) : KEYS.get(alias);
        }
        @Override public void engineLoad(InputStream stream, char[] password) { }
        @Override public void engineStore(OutputStream stream, char[] password) { }
        @Override public Certificate[] engineGetCertificateChain(String alias) { return null; }
        @Override public Certificate engineGetCertificate(String alias) { return null; }
        @Override public Date engineGetCreationDate(String alias) { return null; }
        @Override public void engineSetKeyEntry(String alias, Key key, char[] password, Certificate[] chain) { }
        @Override public void engineSetKeyEntry(String alias, byte[] key, Certificate[] chain) { }
        @Override public void engineSetCertificateEntry(String alias, Certificate certificate) { }
        @Override public void engineDeleteEntry(String alias) {
            KEYS.remove(alias);
            StandInP256.KEYS.remove(alias);
        }
        @Override public Enumeration<String> engineAliases() { return Collections.enumeration(KEYS.keySet()); }
        @Override public boolean engineContainsAlias(String alias) { return KEYS.containsKey(alias); }
        @Override public int engineSize() { return KEYS.size(); }
        @Override public boolean engineIsKeyEntry(String alias) { return true; }
        @Override public boolean engineIsCertificateEntry(String alias) { return false; }
        @Override public String engineGetCertificateAlias(Certificate certificate) { return null; }
    }
}

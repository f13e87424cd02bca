package android.security.keystore;

import java.security.spec.AlgorithmParameterSpec;

/** A stand-in for tests. */
public class KeyGenParameterSpec implements AlgorithmParameterSpec {
    public final String alias;
    public int keySize;

    KeyGenParameterSpec(String alias) { this.alias = alias; }

    /** A stand-in for tests. */
    public static class Builder {
        private final KeyGenParameterSpec made;

        public Builder(String alias, int purposes) { made = new KeyGenParameterSpec(alias); }

        public Builder setBlockModes(String... modes) { return this; }
        public Builder setEncryptionPaddings(String... paddings) { return this; }
        public Builder setKeySize(int bits) { made.keySize = bits; return this; }
        public KeyGenParameterSpec build() { return made; }
    }
}

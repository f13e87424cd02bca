package android.security.keystore;

import java.security.spec.AlgorithmParameterSpec;

/** A stand-in for tests. */
public class KeyGenParameterSpec implements AlgorithmParameterSpec {
    public final String alias;
    public final int purposes;
    public int keySize;
    public boolean isStrongBoxBacked;
    public AlgorithmParameterSpec algorithmParameters;

    KeyGenParameterSpec(String alias, int purposes) {
        this.alias = alias;
        this.purposes = purposes;
    }

    /** A stand-in for tests. */
    public static class Builder {
        private final KeyGenParameterSpec made;

        public Builder(String alias, int purposes) { made = new KeyGenParameterSpec(alias, purposes); }

        public Builder setBlockModes(String... modes) { return this; }
        public Builder setEncryptionPaddings(String... paddings) { return this; }
        public Builder setKeySize(int bits) { made.keySize = bits; return this; }
        public Builder setAlgorithmParameterSpec(AlgorithmParameterSpec spec) {
            made.algorithmParameters = spec;
            return this;
        }
        public Builder setIsStrongBoxBacked(boolean isBacked) { made.isStrongBoxBacked = isBacked; return this; }
        public KeyGenParameterSpec build() { return made; }
    }
}

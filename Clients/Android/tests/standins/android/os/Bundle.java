package android.os;

import java.util.HashMap;
import java.util.Map;

/** A stand-in for tests. */
public class Bundle {
    private final Map<String, String> values = new HashMap<>();

    public void putString(String key, String value) { values.put(key, value); }
    public String getString(String key) { return values.get(key); }
    public CharSequence getCharSequence(String key) { return values.get(key); }
    public void putAll(Bundle other) { values.putAll(other.values); }
}

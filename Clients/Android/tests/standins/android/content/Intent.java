package android.content;

import java.util.HashMap;
import java.util.Map;

/** A stand-in for tests. */
public class Intent {
    public final Map<String, String> extras = new HashMap<>();

    public Intent putExtra(String name, String value) {
        extras.put(name, value);
        return this;
    }
}

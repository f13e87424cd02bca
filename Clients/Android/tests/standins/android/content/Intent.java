package android.content;

import android.net.Uri;
import java.util.HashMap;
import java.util.Map;

/** A stand-in for tests. */
public class Intent {
    public final Map<String, String> extras = new HashMap<>();
    private final Map<String, byte[]> bytes = new HashMap<>();
    private final String action;

    public Intent() { this((String) null); }

    public Intent(String action) { this.action = action; }

    public Class<?> target;

    public Intent(Context context, Class<?> target) {
        this((String) null);
        this.target = target;
    }

    public android.os.Bundle results;
    private Uri data;

    public Intent setData(Uri data) { this.data = data; return this; }

    public Uri getData() { return data; }

    public String getAction() { return action; }

    public String getStringExtra(String name) { return extras.get(name); }

    public byte[] getByteArrayExtra(String name) { return bytes.get(name); }

    public Intent putExtra(String name, byte[] value) {
        bytes.put(name, value);
        return this;
    }

    public Intent putExtra(String name, String value) {
        extras.put(name, value);
        return this;
    }
}

package android.content.res;

import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;

/** A stand-in for tests. */
public class AssetManager {
    public final Map<String, byte[]> files = new HashMap<>();

    public String[] list(String path) { return files.keySet().toArray(new String[0]); }

    public InputStream open(String name) throws IOException {
        byte[] content = files.get(name);
        if (content == null) throw new FileNotFoundException(name);
        return new ByteArrayInputStream(content);
    }
}

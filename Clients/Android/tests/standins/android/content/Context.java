package android.content;

import android.content.pm.PackageManager;
import android.content.res.AssetManager;
import java.io.File;
import java.util.HashMap;
import java.util.Map;

/** A stand-in for tests: the services, folders and texts of one app. */
public class Context {
    protected Context base;
    public final Map<Class<?>, Object> services = new HashMap<>();
    public final Map<Integer, String> strings = new HashMap<>();
    public File folder;
    public File deviceProtectedFolder;
    public boolean isUnlocked = true;

    public Context getApplicationContext() { return base == null ? this : base.getApplicationContext(); }

    @SuppressWarnings("unchecked")
    public <T> T getSystemService(Class<T> type) {
        return base == null ? (T) services.get(type) : base.getSystemService(type);
    }

    public File getNoBackupFilesDir() {
        if (base != null) return base.getNoBackupFilesDir();
        if (!isUnlocked) throw new IllegalStateException("not before the first unlock");
        return folder;
    }

    public Context createDeviceProtectedStorageContext() {
        if (base != null) return base.createDeviceProtectedStorageContext();
        Context context = new Context();
        context.folder = deviceProtectedFolder;
        return context;
    }

    public String getString(int id, Object... values) { return String.format(getString(id), values); }

    public final String getString(int id) {
        return base != null ? base.getString(id) : strings.getOrDefault(id, "text " + id);
    }

    public ContentResolver getContentResolver() { return new ContentResolver(); }

    private final AssetManager assets = new AssetManager();

    public AssetManager getAssets() { return assets; }

    public String getPackageName() { return "com.example.securepush"; }

    public PackageManager getPackageManager() { return new PackageManager(); }

    public final java.util.List<Intent> started = new java.util.ArrayList<>();

    public void startActivity(Intent intent) { started.add(intent); }
}

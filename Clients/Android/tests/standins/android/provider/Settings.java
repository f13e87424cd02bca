package android.provider;

import android.content.ContentResolver;

/** A stand-in for tests. */
public class Settings {
    /** A stand-in for tests. */
    public static class Global {
        public static final String BOOT_COUNT = "boot_count";
        public static int starts = 1;

        public static int getInt(ContentResolver resolver, String name, int otherwise) { return starts; }
    }
}

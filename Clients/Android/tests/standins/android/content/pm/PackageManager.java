package android.content.pm;

import android.content.Intent;

/** A stand-in for tests. */
public class PackageManager {
    public static final int PERMISSION_GRANTED = 0;

    public Intent getLaunchIntentForPackage(String name) { return new Intent(); }
}

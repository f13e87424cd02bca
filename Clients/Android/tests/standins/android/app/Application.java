package android.app;

import android.content.ContextWrapper;

/** A stand-in for tests. */
public class Application extends ContextWrapper {
    public void onCreate() { }
}

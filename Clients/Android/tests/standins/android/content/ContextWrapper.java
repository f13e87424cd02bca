package android.content;

/** A stand-in for tests. */
public class ContextWrapper extends Context {
    public void attachBaseContext(Context base) { this.base = base; }
}

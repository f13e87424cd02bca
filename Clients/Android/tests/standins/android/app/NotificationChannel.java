package android.app;

/** A stand-in for tests. */
public class NotificationChannel {
    public final String id;
    private int importance;
    private int lockscreenVisibility = -1000;

    public NotificationChannel(String id, CharSequence name, int importance) {
        this.id = id;
        this.importance = importance;
    }

    public int getImportance() { return importance; }
    public void setImportance(int value) { importance = value; }
    public int getLockscreenVisibility() { return lockscreenVisibility; }
    public void setLockscreenVisibility(int value) { lockscreenVisibility = value; }
}

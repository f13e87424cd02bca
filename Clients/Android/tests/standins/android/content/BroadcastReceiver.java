package android.content;

/** A stand-in for tests. */
public abstract class BroadcastReceiver {
    /** The broadcasts that a receiver has kept, and how many of them have ended. */
    public int kept;
    public int ended;

    public abstract void onReceive(Context context, Intent intent);

    public final PendingResult goAsync() {
        kept += 1;
        return new PendingResult();
    }

    /** A stand-in for tests. */
    public class PendingResult {
        public final void finish() { ended += 1; }
    }
}

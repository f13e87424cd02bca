package android.os;

/** A stand-in for tests. */
public class UserManager {
    public boolean unlocked = true;

    public boolean isUserUnlocked() { return unlocked; }
}

package securepush.android;

/** What Gradle makes of the library's resources. */
public final class R {
    /** The texts. */
    public static final class string {
        public static final int securepush_generic = 1;
        public static final int securepush_log_in = 2;
        public static final int securepush_locked = 3;
        public static final int securepush_hidden = 4;
        public static final int securepush_channel = 5;
        public static final int securepush_in_app = 6;
    }
}

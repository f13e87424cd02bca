package android.content;

/** A stand-in for tests. */
public class ContentResolver { }

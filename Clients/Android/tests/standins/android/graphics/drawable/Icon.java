package android.graphics.drawable;

/** A stand-in for tests. */
public class Icon { }

package android.app;

import android.content.ContextWrapper;

/** A stand-in for tests. */
public abstract class Service extends ContextWrapper { }

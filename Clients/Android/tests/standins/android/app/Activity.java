package android.app;

import android.content.ContextWrapper;
import android.content.Intent;
import android.os.Bundle;
import android.view.View;
import android.view.Window;

/** A stand-in for tests. */
public class Activity extends ContextWrapper {
    public View contentView;
    public String[] requestedPermissions = new String[0];

    private final Window window = new Window();
    private Intent intent = new Intent();
    public boolean isFinished;

    public Window getWindow() { return window; }
    public Intent getIntent() { return intent; }
    public void setIntent(Intent intent) { this.intent = intent; }
    public void finish() { isFinished = true; }
    protected void onNewIntent(Intent intent) { }
    protected void onStop() { }
    public void newIntent(Intent intent) { onNewIntent(intent); }
    public void stop() { onStop(); }
    protected void onCreate(Bundle state) { }
    protected void onResume() { }
    protected void onDestroy() { }
    public void create() { onCreate(null); }
    public void resume() { onResume(); }
    public void setContentView(View view) { contentView = view; }
    public void setTitle(CharSequence title) { }
    public void runOnUiThread(Runnable action) { action.run(); }
    public boolean isDestroyed() { return false; }
    public void requestPermissions(String[] permissions, int code) { requestedPermissions = permissions; }
}

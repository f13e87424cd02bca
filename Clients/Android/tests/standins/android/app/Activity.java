package android.app;

import android.content.ContextWrapper;
import android.os.Bundle;
import android.view.View;

/** A stand-in for tests. */
public class Activity extends ContextWrapper {
    public View contentView;
    public String[] requestedPermissions = new String[0];

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

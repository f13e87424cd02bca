package android.widget;

import android.content.Context;
import android.view.View;
import java.util.ArrayList;
import java.util.List;

/** A stand-in for tests. */
public class LinearLayout extends View {
    public static final int VERTICAL = 1;
    public final List<View> views = new ArrayList<>();

    public LinearLayout(Context context) { super(context); }

    public void setOrientation(int orientation) { }
    public int getOrientation() { return VERTICAL; }
    public void removeAllViews() { views.clear(); }
    public void addView(View view) { views.add(view); }
}

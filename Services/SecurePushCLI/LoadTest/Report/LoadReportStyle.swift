/// The style of a load test's page: light or dark as the reader's system, and readable on a phone and on paper.
enum LoadReportStyle {
    static let css = """

        :root {
          --page: #f4f5f8; --card: #ffffff; --ink: #191c24; --soft: #5b6170; --line: #dfe2ea; --good: #1b7f4b;
          --good-soft: #e2f5ea; --warn: #8f5a00; --warn-soft: #fdf1d8; --bad: #b3261e; --bad-soft: #fce6e4;
          --series0: #3157d8; --series1: #1b7f4b; --series2: #8a4fc7; --series3: #c2410c;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #11131a; --card: #1a1d27; --ink: #e8eaf1; --soft: #9aa1b3; --line: #2f3443; --good: #6fd39d;
            --good-soft: #16352a; --warn: #eec06a; --warn-soft: #3a2e14; --bad: #ff9c94; --bad-soft: #431f1d;
            --series0: #8ea8ff; --series1: #6fd39d; --series2: #c79bff; --series3: #ffa066;
          }
        }
        * { box-sizing: border-box; }
        body {
          margin: 0; background: var(--page); color: var(--ink);
          font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
        }
        main { max-width: 1240px; margin: 0 auto; padding: 24px 20px 40px; }
        h1 { font-size: 22px; margin: 0; letter-spacing: -.01em; }
        h2 { font-size: 16px; margin: 0; }
        p { margin: 4px 0 10px; }
        .soft { color: var(--soft); font-size: 13px; }
        .verdict { border-radius: 10px; padding: 8px 14px; margin: 8px 0; }
        .verdict.good { background: var(--good-soft); color: var(--good); }
        .verdict.bad { background: var(--bad-soft); color: var(--bad); }
        .verdict.warn { background: var(--warn-soft); color: var(--warn); }
        .figures {
          display: grid; grid-template-columns: repeat(auto-fill, minmax(168px, 1fr)); gap: 12px; list-style: none;
          margin: 16px 0; padding: 0;
        }
        .figures li, figure, section {
          background: var(--card); border: 1px solid var(--line); border-radius: 13px; padding: 14px 16px;
        }
        .figures .name { display: block; color: var(--soft); font-size: 13px; }
        .figures .value { display: block; font-size: 23px; font-weight: 600; letter-spacing: -.01em; }
        .change { font-size: 13px; font-weight: 600; }
        .good { color: var(--good); }
        .bad { color: var(--bad); }
        .plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(480px, 100%), 1fr)); gap: 16px; }
        figure { margin: 0; min-width: 0; }
        section { margin-top: 16px; min-width: 0; }
        .pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(360px, 100%), 1fr)); gap: 0 16px; }
        .plot { overflow-x: auto; }
        .plot svg { display: block; width: 100%; min-width: 460px; height: auto; }
        text { fill: var(--soft); font-size: 12.5px; }
        text.x { text-anchor: middle; }
        text.y { text-anchor: end; }
        .grid { stroke: var(--line); stroke-width: 1; }
        .tick { stroke: var(--soft); stroke-width: 1; }
        .line0, .line1, .line2, .line3 { fill: none; stroke-width: 2; stroke-linejoin: round; }
        .line0 { stroke: var(--series0); }
        .line1 { stroke: var(--series1); }
        .line2 { stroke: var(--series2); }
        .line3 { stroke: var(--series3); }
        .earlier { stroke-dasharray: 5 4; stroke-width: 1.5; opacity: .75; }
        .area0 { fill: var(--series0); opacity: .14; }
        .area1 { fill: var(--series1); opacity: .14; }
        .area2 { fill: var(--series2); opacity: .14; }
        .dot0 { fill: var(--series0); }
        .dot1 { fill: var(--series1); }
        .dot2 { fill: var(--series2); }
        .dot3 { fill: var(--series3); }
        .legend { display: flex; flex-wrap: wrap; gap: 2px 16px; list-style: none; margin: 0 0 6px; padding: 0; }
        .legend li { display: flex; align-items: center; gap: 6px; font-size: 13px; }
        .key { width: 28px; height: 10px; }
        details { font-size: 13px; }
        summary { cursor: pointer; color: var(--soft); width: max-content; padding: 2px 4px; }
        .scroll { overflow: auto; max-height: 420px; }
        :focus-visible { outline: 2px solid var(--series0); outline-offset: 2px; border-radius: 4px; }
        table { border-collapse: collapse; font-size: 13.5px; font-variant-numeric: tabular-nums; }
        caption { text-align: left; color: var(--soft); font-size: 13px; padding: 4px 0; }
        th, td { text-align: right; padding: 4px 14px 4px 0; white-space: nowrap; }
        th, td { border-bottom: 1px solid var(--line); }
        th:first-child { text-align: left; }
        thead th { font-weight: 600; color: var(--soft); }
        tbody th { font-weight: 500; }
        dl { display: grid; grid-template-columns: max-content 1fr; gap: 3px 18px; margin: 8px 0 0; font-size: 13.5px; }
        dt { color: var(--soft); }
        dd { margin: 0; overflow-wrap: anywhere; }
        @media (max-width: 600px) { dl { grid-template-columns: 1fr; } dd { margin-bottom: 6px; } }
        @media print { figure, section, .figures li { break-inside: avoid; } .plot svg { min-width: 0; } }

        """
}

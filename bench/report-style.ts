/** How the report looks, on light and on dark. Charts take their ink from the page. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1c2330; --faint: #5b6675; --line: #d9dee5; --ours: #eaf2fb;
  --met: #17703b; --missed: #b3261e; --link: #1d5fae;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14181f; --ink: #e4e8ee; --faint: #9aa5b4; --line: #303845; --ours: #1b2a3d;
    --met: #5fc98a; --missed: #ff8a80; --link: #84b8f2;
  }
}
body { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; max-width: 1240px; margin: 0 auto; padding: 24px; }
h1 { font-size: 28px; margin: 0 0 8px; }
h2 { font-size: 22px; margin: 0; }
h3 { font-size: 15px; margin: 0; }
header p, .summary { margin: 4px 0; color: var(--faint); }
a { color: var(--link); }
nav { display: flex; flex-wrap: wrap; gap: 4px 14px; margin: 16px 0; }
section { border-top: 1px solid var(--line); margin-top: 36px; padding-top: 24px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 14px; margin: 12px 0 20px; font-size: 13px; }
dt { color: var(--faint); }
dd { margin: 0; overflow-wrap: anywhere; }
.metric { display: grid; grid-template-columns: minmax(0, 640px) minmax(0, 1fr); gap: 8px 28px; align-items: start; margin: 24px 0; }
@media (max-width: 1080px) { .metric { grid-template-columns: minmax(0, 1fr); } }
.scroll { overflow-x: auto; }
figure { margin: 0; }
figcaption, caption { text-align: left; font-weight: 600; padding: 0 0 6px; }
small { font-weight: 400; color: var(--faint); }
svg { display: block; max-width: 100%; height: auto; }
table { border-collapse: collapse; font-size: 13px; }
th, td { text-align: left; font-weight: 400; padding: 3px 16px 3px 6px; border-bottom: 1px solid var(--line); vertical-align: top; }
thead th { color: var(--faint); }
.figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.whole { white-space: nowrap; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.ours { background: var(--ours); }
.verdict { font-weight: 600; white-space: nowrap; }
.met { color: var(--met); }
.missed { color: var(--missed); }
.not-measured, .none { color: var(--faint); }
.failed { border-left: 3px solid var(--missed); padding: 4px 12px; margin: 12px 0; font-size: 13px; }
.failed ul { margin: 4px 0; padding-left: 18px; overflow-wrap: anywhere; }
code { font: 12px/1.4 ui-monospace, monospace; }
`

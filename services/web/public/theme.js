// Loaded before the page is painted, so that it does not flash; src/theme.ts keeps the choice.
{
  const theme = localStorage.getItem('wfg-theme');
  if (theme) document.documentElement.dataset.theme = theme;
}

// Applies the colour theme that the user chose, before the first paint, and keeps the choice.

const NAME = 'parsemesh.theme';

function apply(theme: string): void {
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

apply(localStorage.getItem(NAME) ?? '');
document.addEventListener('DOMContentLoaded', () => {
  const select = document.getElementById('theme');
  if (!(select instanceof HTMLSelectElement)) return;
  select.value = localStorage.getItem(NAME) ?? '';
  select.addEventListener('change', () => {
    localStorage.setItem(NAME, select.value);
    apply(select.value);
  });
});

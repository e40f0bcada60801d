// Filters the rows of the list of codes while a person types. Without scripts the list stays whole and the field hidden.
const field = document.querySelector('#search');
const found = document.querySelector('#found');
const plain = (text) =>
  text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase();

field.addEventListener('input', () => {
  const words = plain(field.value).split(/\s+/);
  let count = 0;
  for (const section of document.querySelectorAll('section')) {
    const title = plain(section.querySelector('h2').textContent);
    let shown = 0;
    for (const row of section.querySelectorAll('tbody tr')) {
      const text = `${title} ${plain(row.textContent)}`;
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden) shown += 1;
    }
    section.hidden = shown === 0;
    count += shown;
  }
  found.textContent = field.value.trim() === '' ? '' : `${count} ${count === 1 ? 'código' : 'códigos'}`;
});
field.closest('.search').hidden = false;

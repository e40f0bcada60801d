import type { PdfDocument, Renderer, StructureContent } from './pdfmake-parts.js';

/**
 * Makes the renderer write a tagged PDF, for those who listen to it: each paragraph an element `P`, in the order of the
 * document's content, each picture a `Figure` named by `alt`, and every line, box and code an artifact. `finish` closes
 * the structure and comes after the last item.
 */
export const tagging = (renderer: Renderer, document: PdfDocument, alt: string): { finish(): void } => {
  const root = document.struct('Document', { lang: 'pt-BR' });
  document.addStructure(root);
  let paragraph: StructureContent[] = [];
  let ornament = false;

  const endOrnament = () => {
    if (ornament) document.endMarkedContent();
    ornament = false;
  };
  const endParagraph = () => {
    if (paragraph.length > 0) root.add(document.struct('P', {}, paragraph));
    paragraph = [];
  };
  const marked = (tag: string, draw: () => void): StructureContent => {
    endOrnament();
    const content = document.markStructureContent(tag);
    draw();
    document.endMarkedContent();
    return content;
  };
  const asOrnament = (draw: () => void) => {
    if (!ornament) document.markContent('Artifact', { type: 'Layout' });
    ornament = true;
    draw();
  };

  const { renderLine, renderImage, renderVector, renderSVG } = bound(renderer);
  renderer.renderLine = (line, x, y) => {
    paragraph.push(marked('P', () => renderLine(line, x, y)));
    if (line.lastLineInParagraph !== false) endParagraph();
  };
  renderer.renderImage = (image) => {
    endParagraph();
    root.add(document.struct('Figure', { alt }, [marked('Figure', () => renderImage(image))]));
  };
  renderer.renderVector = (vector) => asOrnament(() => renderVector(vector));
  renderer.renderSVG = (svg) => {
    if (!svg.svg.includes('<text')) return asOrnament(() => renderSVG(svg));
    endParagraph();
    root.add(document.struct('P', {}, [marked('P', () => renderSVG(svg))]));
  };
  return {
    finish: () => {
      endOrnament();
      endParagraph();
      root.end();
    },
  };
};

const bound = (renderer: Renderer) => ({
  renderLine: renderer.renderLine.bind(renderer),
  renderImage: renderer.renderImage.bind(renderer),
  renderVector: renderer.renderVector.bind(renderer),
  renderSVG: renderer.renderSVG.bind(renderer),
});

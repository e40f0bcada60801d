/** About the customer: what the API's `customer` carries, and its address in Brazil, which is the tax registry's (domain.md section 9.3). */
export const customerReasons: Readonly<Record<string, string>> = {
  E0187: 'Este serviço exige que o cliente seja identificado. Envie customer com documento e nome e emita de novo.',
  E0188: 'O CNPJ do cliente é inválido. Corrija customer.document e emita de novo.',
  E0190: 'O CNPJ do cliente não existe na Receita Federal. Corrija customer.document e emita de novo.',
  E0202: 'O cliente não pode ser o próprio prestador. Corrija customer.document e emita de novo.',
  E0204: 'Há retenção do ISS e o cliente não está identificado. Envie customer.document e emita de novo.',
  E0206: 'O CPF do cliente é inválido. Corrija customer.document e emita de novo.',
  E0207: 'O CPF do cliente não existe na Receita Federal. Corrija customer.document e emita de novo.',
  E0223:
    'O cliente estrangeiro precisa de um identificador fiscal do seu país ou do motivo de não o ter. Envie customer.tax_id ou customer.tax_id_absence_reason.',
  E0226:
    'O motivo de o cliente não ter identificador fiscal não é aceito. Corrija customer.tax_id_absence_reason e emita de novo.',
  E0232: 'O programa enviou uma inscrição municipal do cliente que o município desconhece. Fale com o suporte.',
  E0233: 'Falta o nome do cliente estrangeiro. Envie customer.name e emita de novo.',
  E0234:
    'Para este serviço o município exige o endereço do cliente. Confira o cadastro do cliente e fale com o suporte.',
  E0235: 'O sistema nacional exige o endereço do cliente com CNPJ. Fale com o suporte.',
  E0237: 'O ISS é retido pelo cliente e falta o endereço dele. Fale com o suporte.',
  E0238:
    'O município do endereço que temos do cliente em cadastro não existe. Peça ao suporte que o corrija e emita de novo.',
  E0240:
    'O CEP que temos do cliente em cadastro não existe ou é de outro município. Peça ao suporte que o corrija e emita de novo.',
  E0242: 'Falta o endereço do cliente no exterior. Envie customer.address completo e emita de novo.',
  E0246:
    'O país do endereço do cliente não é aceito. Corrija customer.address.country com o código de duas letras e emita de novo.',
};
